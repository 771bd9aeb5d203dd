"""What requests say of a message to be, and the rules that need nothing but the request."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import errors, limits
from moothall.objects.component import MessageComponent
from moothall.objects.embed import Embed, EmbedInputs, read_embeds
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import ChannelId, GuildId, MessageId, StickerId
from moothall.objects.mentions import check_allowed_mentions
from moothall.objects.message import AllowedMentions, Attachment
from moothall.objects.message_types import SETTABLE, MessageFlags, MessagePart, MessageReferenceType
from moothall.objects.poll import PollDraft, PollInput, read_poll
from moothall.objects.text import clean
from moothall.resources.component.resolved_ids import Lookup
from moothall.resources.message.attachment.drafting import Uploaded, attach, attach_again, require_whole_voice_message
from moothall.resources.message.attachment.embedding import embed_files
from moothall.resources.message.attachment.requests import AttachmentInputs
from moothall.resources.message.layouts import (
    check_legacy_fields,
    given_components,
    is_layout,
    read_message_components,
    seems_layout,
)

Content = Annotated[str, Meta(max_length=limits.CONTENT_MAX)]
Nonce = Annotated[str, Meta(max_length=limits.NONCE_MAX)] | Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
StickerIds = Annotated[list[StickerId], Meta(max_length=limits.STICKERS_PER_MESSAGE)]

NOT_TAKEN: Final[Mapping[str, str]] = {
    "shared_client_theme": "Shared themes are not supported yet.",
}
"""Fields that are refused unless they are null or empty, and what is said of them."""

_NOT_FORWARDED: Final = ("content", "embeds", "components", "attachments", "sticker_ids", "poll", "shared_client_theme")
_OWN_FLAGS: Final = SETTABLE | MessageFlags.IS_VOICE_MESSAGE


class MessageFields(Struct, frozen=True, kw_only=True):
    """What every request that writes a message may carry; null is like absence."""

    content: Content | None = None
    tts: bool | None = None
    embeds: EmbedInputs | None = None
    allowed_mentions: AllowedMentions | None = None
    flags: int | None = None
    components: list[Any] | None = None
    attachments: AttachmentInputs | None = None
    sticker_ids: StickerIds | None = None
    poll: PollInput | None = None
    shared_client_theme: Any = None

    def check_rest(self, form_errors: FormErrors) -> None:
        """What `read_draft` says of the other fields, for a body of which something does not fit its type."""
        _check_fields(self, form_errors)


class MessageReferenceInput(Struct, frozen=True, kw_only=True):
    """The message that a request answers. Channel and guild may be left out: it is one of the same channel."""

    message_id: MessageId
    channel_id: ChannelId | None = None
    guild_id: GuildId | None = None
    type: int | None = None
    fail_if_not_exists: bool | None = None


class CreateMessage(MessageFields, frozen=True, kw_only=True):
    """The body of Create Message."""

    nonce: Nonce | None = None
    enforce_nonce: bool | None = None
    message_reference: MessageReferenceInput | None = None


class EditMessage(Struct, frozen=True, kw_only=True):
    """The body of Edit Message: what is absent stays."""

    content: Content | UnsetType | None = UNSET
    embeds: EmbedInputs | UnsetType | None = UNSET
    allowed_mentions: AllowedMentions | UnsetType | None = UNSET
    flags: int | UnsetType | None = UNSET
    components: list[Any] | UnsetType | None = UNSET
    attachments: AttachmentInputs | UnsetType | None = UNSET
    sticker_ids: Any = None
    poll: Any = None

    def check_rest(self, form_errors: FormErrors) -> None:
        """What `read_edit` says of the other fields, for a body of which something does not fit its type."""
        _check_fields(self, form_errors)

    @property
    def only_flags(self) -> bool:
        """Whether it leaves alone what only the author may change."""
        changed = (self.content, self.embeds, self.components, self.attachments)
        return all(part is UNSET for part in changed)


class Draft(Struct, frozen=True, kw_only=True):
    """A message that is well formed, before anybody asks whether it may be sent."""

    content: str
    embeds: list[Embed] = []
    allowed_mentions: AllowedMentions | None = None
    tts: bool = False
    flags: int = 0
    nonce: str | int | None = None
    enforce_nonce: bool = False
    reference: MessageReferenceInput | None = None
    poll: PollDraft | None = None
    components: list[MessageComponent] = []
    attachments: list[Attachment] = []
    sticker_ids: list[StickerId] = []

    @property
    def layout(self) -> bool:
        """Whether it consists of components alone."""
        return is_layout(self.flags)

    @property
    def forwards(self) -> bool:
        """Whether it is another message, forwarded."""
        return self.reference is not None and self.reference.type == MessageReferenceType.FORWARD

    @property
    def parts(self) -> int:
        """What is stored of it besides its body."""
        return 0 if self.poll is None else int(MessagePart.POLL)


class EditDraft(Struct, frozen=True, kw_only=True):
    """A well formed edit: what is UNSET stays."""

    content: str | UnsetType = UNSET
    embeds: list[Embed] | UnsetType = UNSET
    allowed_mentions: AllowedMentions | None = None
    flags: int | UnsetType = UNSET
    components: list[MessageComponent] | UnsetType = UNSET
    attachments: list[Attachment] | UnsetType = UNSET
    """All that the message will have, kept and new, and what embeds and components go on showing."""
    files: Sequence[Attachment] = ()
    """All that it may have: what it has had and what is new."""

    @property
    def only_flags(self) -> bool:
        """Whether it leaves alone what only the author may change."""
        changed = (self.content, self.embeds, self.components, self.attachments)
        return all(part is UNSET for part in changed)

    @property
    def shows_files(self) -> bool:
        """Whether it says anew which files are seen, or where."""
        return self.embeds is not UNSET or self.components is not UNSET or self.attachments is not UNSET


def clean_content(content: str | None) -> str:
    """Content as it is stored: without what cannot be shown, trimmed. Markdown is not touched."""
    return clean(content).strip() if content else ""


def read_draft(
    body: MessageFields,
    form_errors: FormErrors | None = None,
    *,
    lookup: Lookup | None = None,
    uploaded: Uploaded | None = None,
) -> Draft:
    """The draft that a request's body makes; `form_errors` may hold errors that the caller has seen already.

    `lookup` is what has been found of that which the body's components name, `uploaded` the files that
    came with it.

    Raises Refusal: 50035 with every error, 50006 for a message of nothing, 50159 to 50161 for what is no
    whole voice message.
    """
    form_errors = FormErrors() if form_errors is None else form_errors
    _refuse_not_taken(body, form_errors)
    if body.allowed_mentions is not None:
        check_allowed_mentions(body.allowed_mentions, form_errors)
    embeds = read_embeds(body.embeds, form_errors) if body.embeds else []
    voice = bool(body.flags and body.flags & MessageFlags.IS_VOICE_MESSAGE)
    attachments = attach(body.attachments, uploaded, form_errors, voice=voice)
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
    content = clean_content(body.content)
    draft = Draft(
        content=content,
        embeds=embeds if uploaded is None else embed_files(embeds, attachments, uploaded.links),
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
    )
    nothing_else = not (content or embeds or components or poll or draft.sticker_ids or draft.forwards)
    if voice:
        require_whole_voice_message(attachments, nothing_else=nothing_else)
    if nothing_else and not attachments:
        raise Refusal(errors.EMPTY_MESSAGE)
    return draft


def read_edit(
    body: EditMessage,
    *,
    layout: bool,
    lookup: Lookup | None = None,
    own_files: AbstractSet[str] = frozenset(),
    uploaded: Uploaded | None = None,
    held: Sequence[Attachment] = (),
    form_errors: FormErrors | None = None,
) -> EditDraft:
    """The edit that a request's body makes; null clears content, embeds and components, and leaves flags alone.

    `layout`: the message has IS_COMPONENTS_V2, or gets it now. `lookup` is what has been found of that
    which the components name, `own_files` the URLs of files that the message has, which are `held`, and
    `uploaded` the files that came with the request. `form_errors` may hold errors that the caller has seen already.

    Raises Refusal: 50080 for stickers, which stay as they are, 50035 with every error.
    """
    form_errors = FormErrors() if form_errors is None else form_errors
    _refuse_not_taken(body, form_errors)
    flags = UNSET if body.flags is None else body.flags
    allowed = None if body.allowed_mentions is UNSET else body.allowed_mentions
    if allowed is not None:
        check_allowed_mentions(allowed, form_errors)
    embeds = UNSET if body.embeds is UNSET else read_embeds(body.embeds or [], form_errors)
    if layout:
        check_legacy_fields(body, form_errors)
    given = given_components(body.components)
    components = read_message_components(given, form_errors, layout=layout, lookup=lookup, own_files=own_files)
    again = attach_again(body.attachments, uploaded, held, form_errors)
    form_errors.raise_if_any()
    if body.sticker_ids:
        raise Refusal(errors.STICKERS_NOT_EDITABLE)
    if uploaded is not None and embeds is not UNSET:
        embeds = embed_files(embeds, [*again.held, *again.new], uploaded.links)
    return EditDraft(
        content=UNSET if body.content is UNSET else clean_content(body.content),
        attachments=again.listed,
        files=[*again.held, *again.new],
        embeds=embeds,
        allowed_mentions=allowed,
        flags=flags,
        components=UNSET if given is None else components,
    )


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
            form_errors.add(field, FormCode.BASE_TYPE_BAD_TYPE, "A forwarded message has nothing of its own.")


def _check_fields(body: MessageFields | EditMessage, form_errors: FormErrors) -> None:
    if body.allowed_mentions:
        check_allowed_mentions(body.allowed_mentions, form_errors)
    if body.embeds:
        read_embeds(body.embeds, form_errors)
    if body.components:
        says = is_layout(body.flags)
        layout = says if isinstance(body, MessageFields) else says or seems_layout(body.components)
        read_message_components(body.components, form_errors, layout=layout, lookup=None)
    if isinstance(body, MessageFields) and body.poll is not None:
        read_poll(body.poll, form_errors.at("poll"))


def _refuse_not_taken(body: MessageFields | EditMessage, form_errors: FormErrors) -> None:
    if isinstance(body, EditMessage) and body.poll:
        form_errors.add("poll", FormCode.BASE_TYPE_BAD_TYPE, "A poll cannot be added to a message, or changed.")
    for field, message in NOT_TAKEN.items():
        if getattr(body, field, None):
            form_errors.add(field, FormCode.BASE_TYPE_BAD_TYPE, message)
