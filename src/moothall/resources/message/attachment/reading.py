"""From the `attachments` of a body and the uploaded files to the attachments of a message."""

import base64
import binascii
from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, Struct, UnsetType, structs

from moothall.api.context import Context
from moothall.api.file_links import FileLinks, FilePath
from moothall.api.staged import StagedFile
from moothall.objects import errors, limits
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import AttachmentId, ChannelId
from moothall.objects.message import Attachment
from moothall.objects.message_types import AttachmentFlags
from moothall.objects.text import clean
from moothall.resources.message.attachment.filenames import SPOILER, shown_filename, title_of
from moothall.resources.message.attachment.requests import AttachmentInput
from moothall.resources.message.attachment.uploads import ExaminedFile

_WAVEFORM_POINTS: Final = 256
_UNKNOWN: Final = FieldError(FormCode.BASE_TYPE_CHOICES, "There is no file with this id.")
_TWICE: Final = FieldError(FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "The set already contains this value")
_NO_VOICE: Final = FieldError(FormCode.BASE_TYPE_BAD_TYPE, "Only a voice message has this.")


class UploadedFiles(Struct, frozen=True):
    """The files of a request, and the channel that they will be in."""

    files: Sequence[StagedFile]
    channel_id: ChannelId
    links: FileLinks

    @classmethod
    def of(cls, ctx: Context, channel_id: ChannelId) -> "UploadedFiles":
        """The files of the current request."""
        return cls(ctx.files, channel_id, ctx.services.links)


def read_attachments(
    inputs: Sequence[AttachmentInput] | None,
    uploaded: UploadedFiles | None,
    form_errors: FormErrors,
    *,
    voice: bool = False,
) -> list[Attachment]:
    """The attachments of a new message: every uploaded file, as the body describes it.

    Errors are added to `form_errors` below `attachments`; the result is then to be ignored.
    """
    if not inputs and (uploaded is None or not uploaded.files):
        return []
    described = _by_id(inputs or (), form_errors)
    by_index = {} if uploaded is None else {file.index: file for file in uploaded.files}
    if uploaded is not None and len(uploaded.files) > limits.ATTACHMENTS_MAX:
        form_errors.add("attachments", *FieldError.length(None, limits.ATTACHMENTS_MAX))
    for file_index, index in described.items():
        if file_index not in by_index:
            form_errors.add(("attachments", index, "id"), *_UNKNOWN)
    if uploaded is None:
        return []
    attachments = []
    for file in sorted(uploaded.files, key=lambda file: file.index):
        number = described.get(file.index)
        if inputs is None or number is None:
            attachments.append(_new_attachment(file, None, uploaded, voice=voice))
            continue
        if not voice:
            _refuse_voice_fields(inputs, number, form_errors)
        attachments.append(_new_attachment(file, inputs[number], uploaded, voice=voice))
    return attachments


class EditedAttachments(Struct, frozen=True):
    """The files of an edited message."""

    listed: list[Attachment] | UnsetType
    """The attachments that the message will have; UNSET if the body does not change them."""
    new: list[Attachment]
    kept: Sequence[Attachment]
    """The files that the message had, as the body describes them; its embeds and components may go on showing them."""


def read_edited_attachments(
    inputs: Sequence[AttachmentInput] | UnsetType | None,
    uploaded: UploadedFiles | None,
    attachments: Sequence[Attachment],
    form_errors: FormErrors,
) -> EditedAttachments:
    """The attachments of an edited message that has `attachments`.

    Without a list, uploaded files are added; with one, the message has what it names. Raises Refusal 400/30015 for
    too many.
    """
    if inputs is UNSET:
        new = read_attachments(None, uploaded, form_errors)
        edited = EditedAttachments([*attachments, *new] if new else UNSET, new, attachments)
    else:
        edited = _read_listed(inputs or (), uploaded, attachments, form_errors)
    if len(edited.listed or ()) > limits.ATTACHMENTS_MAX:
        raise Refusal(errors.TOO_MANY_ATTACHMENTS)
    return edited


def require_voice_message(attachments: Sequence[Attachment], *, files_only: bool) -> None:
    """Refuse a voice message that is not one sound file with its length and waveform: 50159, 50160, 50161."""
    if not files_only:
        raise Refusal(errors.VOICE_MESSAGE_CONTENT)
    if len(attachments) != 1 or not (attachments[0].content_type or "").startswith("audio/"):
        raise Refusal(errors.VOICE_MESSAGE_ATTACHMENT)
    if attachments[0].duration_secs is UNSET or not _is_waveform(attachments[0].waveform):
        raise Refusal(errors.VOICE_MESSAGE_METADATA)


def _by_id(inputs: Sequence[AttachmentInput], form_errors: FormErrors) -> dict[int, int]:
    """The index of each input by its id."""
    if len(inputs) > limits.ATTACHMENTS_MAX:
        form_errors.add("attachments", *FieldError.length(None, limits.ATTACHMENTS_MAX))
        return {}
    described: dict[int, int] = {}
    for index, one in enumerate(inputs):
        if int(one.id) in described:
            form_errors.add(("attachments", index, "id"), *_TWICE)
        described.setdefault(int(one.id), index)
    return described


def _read_listed(
    inputs: Sequence[AttachmentInput],
    uploaded: UploadedFiles | None,
    attachments: Sequence[Attachment],
    form_errors: FormErrors,
) -> EditedAttachments:
    described = _by_id(inputs, form_errors)
    by_index = {} if uploaded is None else {file.index: file for file in uploaded.files}
    ids = {int(attachment.id) for attachment in attachments}
    for number, index in described.items():
        if number not in by_index and number not in ids:
            form_errors.add(("attachments", index, "id"), *_UNKNOWN)
    kept = [
        _edited_attachment(attachment, inputs[described[attachment.id]]) if attachment.id in described else attachment
        for attachment in attachments
    ]
    new = []
    for number, index in described.items():
        if uploaded is not None and number in by_index:
            _refuse_voice_fields(inputs, index, form_errors)
            new.append(_new_attachment(by_index[number], inputs[index], uploaded, voice=False))
    return EditedAttachments([*(one for one in kept if one.id in described), *new], new, kept)


def _refuse_voice_fields(inputs: Sequence[AttachmentInput], index: int, form_errors: FormErrors) -> None:
    for field in ("duration_secs", "waveform"):
        if getattr(inputs[index], field) is not None:
            form_errors.add(("attachments", index, field), *_NO_VOICE)


def _new_attachment(
    file: StagedFile, described: AttachmentInput | None, uploaded: UploadedFiles, *, voice: bool
) -> Attachment:
    name = (described.filename if described else None) or file.filename
    filename = shown_filename(name)
    title = (described.title if described else None) or title_of(name, filename)
    examined: ExaminedFile = file.info
    dimensions = examined.dimensions
    flags = AttachmentFlags.IS_SPOILER if filename.startswith(SPOILER) or (described and described.is_spoiler) else 0
    if dimensions is not None and dimensions.animated:
        flags |= AttachmentFlags.IS_ANIMATED
    url = uploaded.links.plain_url(FilePath(uploaded.channel_id, file.id, filename))
    return Attachment(
        id=AttachmentId(file.id),
        filename=filename,
        title=_text(title, limits.ATTACHMENT_NAME_MAX),
        description=_text(described.description if described else None, limits.ATTACHMENT_DESCRIPTION_MAX),
        content_type=examined.content_type,
        size=file.size,
        url=url,
        proxy_url=url,
        width=UNSET if dimensions is None else dimensions.width,
        height=UNSET if dimensions is None else dimensions.height,
        duration_secs=described.duration_secs if voice and described and described.duration_secs is not None else UNSET,
        waveform=described.waveform if voice and described and described.waveform is not None else UNSET,
        flags=flags or UNSET,
    )


def _edited_attachment(attachment: Attachment, described: AttachmentInput) -> Attachment:
    changed = attachment
    if described.description is not UNSET:
        changed = structs.replace(changed, description=_text(described.description, limits.ATTACHMENT_DESCRIPTION_MAX))
    if described.is_spoiler is not None:
        flags = (changed.flags or 0) & ~AttachmentFlags.IS_SPOILER
        if described.is_spoiler or changed.filename.startswith(SPOILER):
            flags |= AttachmentFlags.IS_SPOILER
        changed = structs.replace(changed, flags=flags or UNSET)
    return changed


def _text(value: str | UnsetType | None, maximum: int) -> str | UnsetType:
    return (clean(value).strip()[:maximum] or UNSET) if value else UNSET


def _is_waveform(waveform: str | UnsetType) -> bool:
    if waveform is UNSET:
        return False
    try:
        return 0 < len(base64.b64decode(waveform, validate=True)) <= _WAVEFORM_POINTS
    except (binascii.Error, ValueError):
        return False
