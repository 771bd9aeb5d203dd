"""From what a request says of files, and the files that came with it, to the attachments of a message."""

import base64
import binascii
from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, Struct, UnsetType, structs

from moothall.kernel.context import Context
from moothall.kernel.file_links import FileLinks, FilePath
from moothall.kernel.staged import StagedFile
from moothall.objects import errors, limits
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import AttachmentId, ChannelId
from moothall.objects.message import Attachment
from moothall.objects.message_types import AttachmentFlags
from moothall.objects.text import clean
from moothall.resources.message.attachment.names import SPOILER, lost_title, shown_filename
from moothall.resources.message.attachment.requests import AttachmentInput
from moothall.resources.message.attachment.uploads import Examined

_WAVEFORM_POINTS: Final = 256
_UNKNOWN: Final = FieldError(FormCode.BASE_TYPE_CHOICES, "There is no file with this id.")
_TWICE: Final = FieldError(FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "The set already contains this value")
_NO_VOICE: Final = FieldError(FormCode.BASE_TYPE_BAD_TYPE, "Only a voice message has this.")


class Uploaded(Struct, frozen=True):
    """The files of a request, and the channel that they will be in."""

    files: Sequence[StagedFile]
    channel_id: ChannelId
    links: FileLinks

    @classmethod
    def of(cls, ctx: Context, channel_id: ChannelId) -> "Uploaded":
        """Those of the request under way."""
        return cls(ctx.files, channel_id, ctx.services.links)


def attach(
    given: Sequence[AttachmentInput] | None, uploaded: Uploaded | None, form_errors: FormErrors, *, voice: bool = False
) -> list[Attachment]:
    """The attachments of a new message: every file that came, as the request describes it.

    What is wrong is added to `form_errors` below `attachments`; the result counts for nothing then.
    """
    if not given and (uploaded is None or not uploaded.files):
        return []
    described = _by_id(given or (), form_errors)
    by_index = {} if uploaded is None else {file.index: file for file in uploaded.files}
    for number, index in described.items():
        if number not in by_index:
            form_errors.add(("attachments", index, "id"), *_UNKNOWN)
    if uploaded is None:
        return []
    return [
        _made(file, given[described[file.index]] if given and file.index in described else None, uploaded, voice=voice)
        for file in sorted(uploaded.files, key=lambda file: file.index)
        if _check_voice(given, described.get(file.index), form_errors, voice=voice)
    ]


class Again(Struct, frozen=True):
    """The files of a message that is edited."""

    listed: list[Attachment] | UnsetType
    """What the request wants it to have; UNSET if it says nothing of files."""
    new: list[Attachment]
    held: Sequence[Attachment]
    """What it has had before, with what the request changes of it: what embeds and components go on showing stays."""


def attach_again(
    given: Sequence[AttachmentInput] | UnsetType | None,
    uploaded: Uploaded | None,
    held: Sequence[Attachment],
    form_errors: FormErrors,
) -> Again:
    """The attachments of an edited message that has those of `held`.

    Without a list new files are appended; with one there is what it names. Raises Refusal 400/30015 for too many.
    """
    if given is UNSET:
        new = attach(None, uploaded, form_errors)
        again = Again([*held, *new] if new else UNSET, new, held)
    else:
        again = _listed_again(given or (), uploaded, held, form_errors)
    if len(again.listed or ()) > limits.ATTACHMENTS_MAX:
        raise Refusal(errors.TOO_MANY_ATTACHMENTS)
    return again


def require_whole_voice_message(attachments: Sequence[Attachment], *, nothing_else: bool) -> None:
    """A voice message is one piece of sound with its length and waveform. Raises Refusal: 50159, 50160, 50161."""
    if not nothing_else:
        raise Refusal(errors.VOICE_MESSAGE_CONTENT)
    if len(attachments) != 1 or not (attachments[0].content_type or "").startswith("audio/"):
        raise Refusal(errors.VOICE_MESSAGE_ATTACHMENT)
    if attachments[0].duration_secs is UNSET or not _is_waveform(attachments[0].waveform):
        raise Refusal(errors.VOICE_MESSAGE_METADATA)


def _by_id(given: Sequence[AttachmentInput], form_errors: FormErrors) -> dict[int, int]:
    if len(given) > limits.ATTACHMENTS_MAX:
        form_errors.add("attachments", *FieldError.length(None, limits.ATTACHMENTS_MAX))
        return {}
    described: dict[int, int] = {}
    for index, one in enumerate(given):
        if int(one.id) in described:
            form_errors.add(("attachments", index, "id"), *_TWICE)
        described.setdefault(int(one.id), index)
    return described


def _listed_again(
    given: Sequence[AttachmentInput], uploaded: Uploaded | None, held: Sequence[Attachment], form_errors: FormErrors
) -> Again:
    described = _by_id(given, form_errors)
    by_index = {} if uploaded is None else {file.index: file for file in uploaded.files}
    held_ids = {int(attachment.id) for attachment in held}
    for number, index in described.items():
        if number not in by_index and number not in held_ids:
            form_errors.add(("attachments", index, "id"), *_UNKNOWN)
    changed = [
        _changed(attachment, given[described[attachment.id]]) if attachment.id in described else attachment
        for attachment in held
    ]
    new = [
        _made(by_index[number], given[index], uploaded, voice=False)
        for number, index in described.items()
        if uploaded is not None and number in by_index and _check_voice(given, index, form_errors, voice=False)
    ]
    return Again([*(one for one in changed if one.id in described), *new], new, changed)


def _check_voice(
    given: Sequence[AttachmentInput] | None, index: int | None, form_errors: FormErrors, *, voice: bool
) -> bool:
    if given and index is not None and not voice:
        for field in ("duration_secs", "waveform"):
            if getattr(given[index], field) is not None:
                form_errors.add(("attachments", index, field), *_NO_VOICE)
    return True


def _made(file: StagedFile, given: AttachmentInput | None, uploaded: Uploaded, *, voice: bool) -> Attachment:
    name = (given.filename if given else None) or file.filename
    filename = shown_filename(name)
    title = (given.title if given else None) or lost_title(name, filename)
    examined: Examined = file.info
    measures = examined.measures
    flags = AttachmentFlags.IS_SPOILER if filename.startswith(SPOILER) or (given and given.is_spoiler) else 0
    if measures is not None and measures.animated:
        flags |= AttachmentFlags.IS_ANIMATED
    url = uploaded.links.plain_url(FilePath(uploaded.channel_id, file.id, filename))
    return Attachment(
        id=AttachmentId(file.id),
        filename=filename,
        title=_text(title, limits.ATTACHMENT_NAME_MAX),
        description=_text(given.description if given else None, limits.ATTACHMENT_DESCRIPTION_MAX),
        content_type=examined.content_type,
        size=file.size,
        url=url,
        proxy_url=url,
        width=UNSET if measures is None else measures.width,
        height=UNSET if measures is None else measures.height,
        duration_secs=given.duration_secs if voice and given and given.duration_secs is not None else UNSET,
        waveform=given.waveform if voice and given and given.waveform is not None else UNSET,
        flags=flags or UNSET,
    )


def _changed(attachment: Attachment, given: AttachmentInput) -> Attachment:
    changed = attachment
    if given.description is not UNSET:
        changed = structs.replace(changed, description=_text(given.description, limits.ATTACHMENT_DESCRIPTION_MAX))
    if given.is_spoiler is not None:
        flags = (changed.flags or 0) & ~AttachmentFlags.IS_SPOILER
        if given.is_spoiler or changed.filename.startswith(SPOILER):
            flags |= AttachmentFlags.IS_SPOILER
        changed = structs.replace(changed, flags=flags or UNSET)
    return changed


def _text(given: str | UnsetType | None, maximum: int) -> str | UnsetType:
    return (clean(given).strip()[:maximum] or UNSET) if given else UNSET


def _is_waveform(waveform: str | UnsetType) -> bool:
    if waveform is UNSET:
        return False
    try:
        return 0 < len(base64.b64decode(waveform, validate=True)) <= _WAVEFORM_POINTS
    except (binascii.Error, ValueError):
        return False
