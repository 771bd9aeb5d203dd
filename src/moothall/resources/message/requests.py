"""The bodies of requests that write messages (resources: message)."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.embed import EmbedInputs, read_embeds
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ApplicationId, ChannelId, GuildId, MessageId, StickerId
from moothall.objects.mentions import check_allowed_mentions
from moothall.objects.message import AllowedMentions, MessageActivityType
from moothall.objects.poll import PollInput, read_poll
from moothall.resources.message.attachment.requests import AttachmentInputs
from moothall.resources.message.components import is_layout, looks_like_layout, read_message_components

Content = Annotated[str, Meta(max_length=limits.CONTENT_MAX)]
Nonce = Annotated[str, Meta(max_length=limits.NONCE_MAX)] | Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
StickerIds = Annotated[list[StickerId], Meta(max_length=limits.STICKERS_PER_MESSAGE)]

UNSUPPORTED: Final[Mapping[str, str]] = {
    "shared_client_theme": "Shared themes are not supported yet.",
}
"""Fields that are refused unless they are null or empty, with the message of the error."""


class MessageFields(Struct, frozen=True, kw_only=True):
    """The fields of every request that creates a message; null means the same as absent."""

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

    def check_shape(self, form_errors: FormErrors) -> None:
        """Add the errors of the fields whose types are right, for a body in which some are not."""
        _check_fields(self, form_errors)


class MessageReferenceInput(Struct, frozen=True, kw_only=True):
    """The message that is replied to or forwarded. A reply may leave out channel and guild, which are its own."""

    message_id: MessageId
    channel_id: ChannelId | None = None
    guild_id: GuildId | None = None
    type: int | None = None
    fail_if_not_exists: bool | None = None


class MessageActivityInput(Struct, frozen=True, kw_only=True):
    """An invitation to an activity of the author's, or a request for one of another's."""

    type: MessageActivityType
    party_id: Annotated[str, Meta(max_length=limits.PARTY_ID_MAX)] | None = None
    session_id: Annotated[str, Meta(max_length=limits.PARTY_ID_MAX)] | None = None
    """The gateway session that has the activity. It is not shown to others."""


class CreateMessage(MessageFields, frozen=True, kw_only=True):
    """The body of Create Message."""

    nonce: Nonce | None = None
    enforce_nonce: bool | None = None
    message_reference: MessageReferenceInput | None = None
    activity: MessageActivityInput | None = None
    """Of people alone; what bots send is ignored."""
    application_id: ApplicationId | None = None
    """The application whose activity it is."""


class EditMessage(Struct, frozen=True, kw_only=True):
    """The body of Edit Message: absent fields keep their value."""

    content: Content | UnsetType | None = UNSET
    embeds: EmbedInputs | UnsetType | None = UNSET
    allowed_mentions: AllowedMentions | UnsetType | None = UNSET
    flags: int | UnsetType | None = UNSET
    components: list[Any] | UnsetType | None = UNSET
    attachments: AttachmentInputs | UnsetType | None = UNSET
    sticker_ids: Any = None
    poll: Any = None

    def check_shape(self, form_errors: FormErrors) -> None:
        """Add the errors of the fields whose types are right, for a body in which some are not."""
        _check_fields(self, form_errors)

    @property
    def only_flags(self) -> bool:
        """Whether it changes nothing that only the author may change."""
        changed = (self.content, self.embeds, self.components, self.attachments)
        return all(part is UNSET for part in changed)


class BulkDeleteMessages(Struct, frozen=True):
    """The body of Bulk Delete Messages."""

    messages: list[MessageId]


def check_supported(body: MessageFields | EditMessage, form_errors: FormErrors) -> None:
    """Add an error for each field that messages cannot have, or that an edit cannot change."""
    if isinstance(body, EditMessage) and body.poll:
        form_errors.add("poll", FormCode.BASE_TYPE_BAD_TYPE, "A poll cannot be added to a message, or changed.")
    for field, message in UNSUPPORTED.items():
        if getattr(body, field, None):
            form_errors.add(field, FormCode.BASE_TYPE_BAD_TYPE, message)


def _check_fields(body: MessageFields | EditMessage, form_errors: FormErrors) -> None:
    if body.allowed_mentions:
        check_allowed_mentions(body.allowed_mentions, form_errors)
    if body.embeds:
        read_embeds(body.embeds, form_errors)
    if body.components:
        layout = is_layout(body.flags)
        if isinstance(body, EditMessage):
            layout = layout or looks_like_layout(body.components)
        read_message_components(body.components, form_errors, layout=layout, lookup=None)
    if isinstance(body, MessageFields) and body.poll is not None:
        read_poll(body.poll, form_errors.at("poll"))
