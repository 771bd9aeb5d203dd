"""From the body of a request to a draft: the first stage of creating and of editing a message.

`read_draft` and `read_edit` are pure. `draft_message` and `draft_edit` look up what a body refers to and call them.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from msgspec import UNSET, Struct, structs

from moothall.api.context import Context
from moothall.authority.channel_access import ChannelAccess
from moothall.objects import errors
from moothall.objects.application import IntegrationApplication
from moothall.objects.embed import read_embeds
from moothall.objects.errors import FormErrors, Refusal, refuse_field
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import ApplicationId, ChannelId, UserId
from moothall.objects.mentions import check_allowed_mentions
from moothall.objects.message import Attachment, MessageActivity
from moothall.objects.message_types import SETTABLE, MessageFlags, MessagePart, MessageReferenceType
from moothall.objects.permissions import Permissions
from moothall.objects.poll import read_poll
from moothall.objects.text import clean
from moothall.resources.application.objects import integration_application
from moothall.resources.application.queries import select_application
from moothall.resources.component.resolved_ids import ComponentLookup, Sender, look_up_components, sender_of
from moothall.resources.message.attachment.embeds import embed_files
from moothall.resources.message.attachment.operations import get_attachments
from moothall.resources.message.attachment.pending_upload.operations import use_uploads, uses_uploads
from moothall.resources.message.attachment.reading import (
    UploadedFiles,
    read_attachments,
    read_edited_attachments,
    require_voice_message,
)
from moothall.resources.message.components import (
    check_legacy_fields,
    is_layout,
    read_message_components,
    requested_components,
    without_components,
)
from moothall.resources.message.drafts import Draft, EditDraft
from moothall.resources.message.queries import MessageRow
from moothall.resources.message.requests import (
    CreateMessage,
    EditMessage,
    MessageFields,
    MessageReferenceInput,
    check_supported,
)

_NOT_FORWARDED: Final = (
    "activity",
    "content",
    "embeds",
    "components",
    "attachments",
    "sticker_ids",
    "poll",
    "shared_client_theme",
)
_OWN_FLAGS: Final = SETTABLE | MessageFlags.IS_VOICE_MESSAGE


class EditSources(Struct, frozen=True, kw_only=True):
    """What an edit is read with besides its body."""

    layout: bool
    """Whether the message has IS_COMPONENTS_V2, or gets it now."""
    lookup: ComponentLookup | None = None
    """The ids that the components refer to; None leaves them unchecked."""
    uploaded: UploadedFiles | None = None
    """The files of the request."""
    attachments: Sequence[Attachment] = ()
    """The files that the message has."""
    file_urls: AbstractSet[str] = frozenset()
    """The URLs of those files, without their query."""


async def draft_own_message(
    ctx: Context, body: MessageFields, form_errors: FormErrors | None = None, *, channel_id: ChannelId | None = None
) -> Draft:
    """Read a message that the caller sends to the channel entered.

    `form_errors` may hold errors already. `channel_id` is the channel of its files, if that is another one: a thread
    that is created with the message. Raises Refusal: 50013 for fields that the caller may not send, 50173, and what
    `read_draft` and `use_uploads` raise.
    """
    if body.tts and ctx.in_guild:
        ctx.require(Permissions.SEND_TTS_MESSAGES)
    if body.embeds:
        ctx.require(Permissions.EMBED_LINKS)
    if uses_uploads(body.attachments):
        ctx.require(Permissions.ATTACH_FILES)
    if body.poll is not None:
        ctx.require(Permissions.SEND_POLLS)
    if body.flags and body.flags & MessageFlags.IS_VOICE_MESSAGE and not ctx.has(Permissions.SEND_VOICE_MESSAGES):
        raise Refusal(errors.NO_VOICE_MESSAGES)
    if not ctx.actor.bot:
        body = without_components(body, None)
    application = None
    if isinstance(body, CreateMessage) and body.activity is not None:
        if ctx.actor.bot:
            body = structs.replace(body, activity=None)
        elif body.application_id is not None:
            application = await _find_application(ctx, body.application_id)
    draft = await draft_message(ctx, ctx.channel, body, sender_of(ctx), form_errors, channel_id=channel_id)
    return draft if application is None else structs.replace(draft, application=application)


async def _find_application(ctx: Context, application_id: ApplicationId) -> IntegrationApplication:
    row = await select_application(ctx.tx, application_id)
    if row is None:
        refuse_field("application_id", FormCode.BASE_TYPE_CHOICES, "There is no such application.")
    return integration_application(row, None)


async def draft_message(
    ctx: Context,
    access: ChannelAccess,
    body: MessageFields,
    sender: Sender,
    form_errors: FormErrors | None = None,
    *,
    channel_id: ChannelId | None = None,
) -> Draft:
    """Look up what the body of a new message refers to, and read it; parameters and errors as `draft_own_message`."""
    form_errors = FormErrors() if form_errors is None else form_errors
    if body.attachments:
        await use_uploads(ctx, body.attachments, _uploader(sender), access, form_errors)
    lookup = await look_up_components(ctx, access, body.components, sender) if body.components else None
    uploaded = UploadedFiles.of(ctx, access.id if channel_id is None else channel_id)
    return read_draft(body, form_errors, lookup=lookup, uploaded=uploaded)


async def draft_edit(
    ctx: Context,
    access: ChannelAccess,
    row: MessageRow,
    body: EditMessage,
    sender: Sender,
    form_errors: FormErrors | None = None,
) -> EditDraft:
    """Look up what the body of an edit refers to, and read it. Raises Refusal as `read_edit` and `use_uploads`."""
    form_errors = FormErrors() if form_errors is None else form_errors
    await use_uploads(ctx, body.attachments, _uploader(sender), access, form_errors)
    lookup = await look_up_components(ctx, access, body.components, sender)
    has_files = bool(row.parts & MessagePart.FILES)
    sources = EditSources(
        layout=is_layout(row.flags) or is_layout(body.flags),
        lookup=lookup,
        uploaded=UploadedFiles.of(ctx, row.channel_id),
        attachments=await get_attachments(ctx, row.channel_id, row.id) if has_files else (),
        file_urls=ctx.services.links.plain_urls(row.body) if has_files else frozenset(),
    )
    return read_edit(body, sources, form_errors)


def read_draft(
    body: MessageFields,
    form_errors: FormErrors | None = None,
    *,
    lookup: ComponentLookup | None = None,
    uploaded: UploadedFiles | None = None,
) -> Draft:
    """The draft of a new message.

    `form_errors` may hold errors already, `lookup` has the ids that the components refer to (None leaves them
    unchecked), `uploaded` the files of the request. Raises Refusal: 50035 with every error, 50006 for an empty
    message, 50159 to 50161 for an incomplete voice message.
    """
    form_errors = FormErrors() if form_errors is None else form_errors
    check_supported(body, form_errors)
    if body.allowed_mentions is not None:
        check_allowed_mentions(body.allowed_mentions, form_errors)
    embeds = read_embeds(body.embeds, form_errors) if body.embeds else []
    voice = bool(body.flags and body.flags & MessageFlags.IS_VOICE_MESSAGE)
    attachments = read_attachments(body.attachments, uploaded, form_errors, voice=voice)
    reference = nonce = None
    enforce_nonce = False
    if isinstance(body, CreateMessage):
        reference, nonce, enforce_nonce = body.message_reference, body.nonce, bool(body.enforce_nonce)
        if reference is not None and reference.type:
            _check_forward(body, reference, form_errors)
    poll = None if body.poll is None else read_poll(body.poll, form_errors.at("poll"))
    layout = is_layout(body.flags)
    if layout:
        check_legacy_fields(body, form_errors)
    components = read_message_components(body.components, form_errors, layout=layout, lookup=lookup)
    form_errors.raise_if_any()
    draft = Draft(
        content=clean_content(body.content),
        embeds=embed_files(embeds, attachments, uploaded.links) if attachments and uploaded is not None else embeds,
        allowed_mentions=body.allowed_mentions,
        tts=bool(body.tts),
        flags=(body.flags or 0) & _OWN_FLAGS,
        nonce=None if nonce == "" else nonce,
        enforce_nonce=enforce_nonce,
        reference=reference,
        poll=poll,
        components=components,
        attachments=attachments,
        sticker_ids=body.sticker_ids or [],
        activity=_activity(body),
    )
    _require_content(draft, voice=voice)
    return draft


def read_edit(body: EditMessage, sources: EditSources, form_errors: FormErrors | None = None) -> EditDraft:
    """The draft of an edit; null clears content, embeds and components, and keeps the flags.

    `form_errors` may hold errors already. Raises Refusal: 50080 for stickers, which cannot be edited, 50035 with every
    error, 30015 for too many attachments.
    """
    form_errors = FormErrors() if form_errors is None else form_errors
    uploaded = sources.uploaded
    check_supported(body, form_errors)
    allowed = None if body.allowed_mentions is UNSET else body.allowed_mentions
    if allowed is not None:
        check_allowed_mentions(allowed, form_errors)
    embeds = UNSET if body.embeds is UNSET else read_embeds(body.embeds or [], form_errors)
    if sources.layout:
        check_legacy_fields(body, form_errors)
    requested = requested_components(body.components)
    components = read_message_components(
        requested, form_errors, layout=sources.layout, lookup=sources.lookup, file_urls=sources.file_urls
    )
    attachments = read_edited_attachments(body.attachments, uploaded, sources.attachments, form_errors)
    form_errors.raise_if_any()
    if body.sticker_ids:
        raise Refusal(errors.STICKERS_NOT_EDITABLE)
    files = [*attachments.kept, *attachments.new]
    if uploaded is not None and embeds is not UNSET:
        embeds = embed_files(embeds, files, uploaded.links)
    return EditDraft(
        content=UNSET if body.content is UNSET else clean_content(body.content),
        attachments=attachments.listed,
        files=files,
        embeds=embeds,
        allowed_mentions=allowed,
        flags=UNSET if body.flags is None else body.flags,
        components=UNSET if requested is None else components,
    )


def _activity(body: MessageFields) -> MessageActivity | None:
    if not isinstance(body, CreateMessage) or body.activity is None:
        return None
    return MessageActivity(type=body.activity.type, party_id=body.activity.party_id or UNSET)


def _uploader(sender: Sender) -> UserId | None:
    """The user whose uploads a message may use; None for a webhook."""
    return None if sender.is_webhook else sender.user_id


def clean_content(content: str | None) -> str:
    """Content as it is stored: without characters that cannot be shown, and trimmed. Markdown is not changed."""
    return clean(content).strip() if content else ""


def _check_forward(body: CreateMessage, reference: MessageReferenceInput, form_errors: FormErrors) -> None:
    if reference.type != MessageReferenceType.FORWARD:
        form_errors.add(
            "message_reference.type", *FieldError.choices(tuple(int(kind) for kind in MessageReferenceType))
        )
        return
    if reference.channel_id is None:
        form_errors.add("message_reference.channel_id", *FieldError.required())
    for field in _NOT_FORWARDED:
        if getattr(body, field):
            form_errors.add(field, FormCode.BASE_TYPE_BAD_TYPE, "A forwarded message cannot have this field.")


def _require_content(draft: Draft, *, voice: bool) -> None:
    files_only = not (
        draft.content
        or draft.embeds
        or draft.components
        or draft.poll
        or draft.sticker_ids
        or draft.forwards
        or draft.activity
    )
    if voice:
        require_voice_message(draft.attachments, files_only=files_only)
    if files_only and not draft.attachments:
        raise Refusal(errors.EMPTY_MESSAGE)
