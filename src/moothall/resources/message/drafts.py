"""What passes between the stages of creating and editing a message: the drafts, and the drafts with their channel."""

from collections.abc import Sequence

from msgspec import UNSET, Raw, Struct, UnsetType

from moothall.authority.channel_access import ChannelAccess
from moothall.objects.application import IntegrationApplication
from moothall.objects.component import MessageComponent
from moothall.objects.embed import Embed
from moothall.objects.ids import ApplicationId, ChannelId, GuildId, MessageId, StickerId
from moothall.objects.message import AllowedMentions, Attachment, MessageActivity
from moothall.objects.message_types import EDITABLE, MessageFlags, MessagePart, MessageReferenceType, MessageType
from moothall.objects.poll import PollDraft
from moothall.resources.message.authors import Author
from moothall.resources.message.body import Head, Text, decode_head, decode_text
from moothall.resources.message.components import is_layout
from moothall.resources.message.queries import MessageRow
from moothall.resources.message.requests import MessageReferenceInput


class Draft(Struct, frozen=True, kw_only=True):
    """A valid body of a new message. Whether the author may send it is not checked yet."""

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
    activity: MessageActivity | None = None
    application: IntegrationApplication | None = None
    """The application of the activity."""

    @property
    def layout(self) -> bool:
        """Whether it has IS_COMPONENTS_V2, so that it consists of components alone."""
        return is_layout(self.flags)

    @property
    def forwards(self) -> bool:
        """Whether it forwards another message."""
        return self.reference is not None and self.reference.type == MessageReferenceType.FORWARD

    @property
    def parts(self) -> int:
        """The `MessagePart` bits of what is stored outside of the body."""
        return 0 if self.poll is None else int(MessagePart.POLL)


class EditDraft(Struct, frozen=True, kw_only=True):
    """A valid body of an edit: what is UNSET keeps its value."""

    content: str | UnsetType = UNSET
    embeds: list[Embed] | UnsetType = UNSET
    allowed_mentions: AllowedMentions | None = None
    flags: int | UnsetType = UNSET
    components: list[MessageComponent] | UnsetType = UNSET
    attachments: list[Attachment] | UnsetType = UNSET
    """The attachments after the edit, kept and new, besides those that embeds and components show."""
    files: Sequence[Attachment] = ()
    """The files that embeds and components may show: those of the message before the edit, and new ones."""

    @property
    def only_flags(self) -> bool:
        """Whether it changes nothing that only the author may change."""
        changed = (self.content, self.embeds, self.components, self.attachments)
        return all(part is UNSET for part in changed)

    @property
    def shows_files(self) -> bool:
        """Whether it may change which files the message shows, or where."""
        return self.embeds is not UNSET or self.components is not UNSET or self.attachments is not UNSET


class InteractionFields(Struct, frozen=True, kw_only=True):
    """The fields of a message that responds to an interaction, which no draft has."""

    channel_id: ChannelId
    """The channel of the interaction; an ephemeral message is stored under the interaction's id instead."""
    guild_id: GuildId | None
    type: MessageType
    flags: int
    application_id: ApplicationId
    metadata: Raw
    """`interaction_metadata` as JSON."""
    interaction: Raw | UnsetType = UNSET
    """The deprecated `interaction` as JSON."""
    replied_to: MessageRow | None = None
    """The message whose component was used, or the original response of a followup."""


class OutgoingMessage(Struct, frozen=True, kw_only=True):
    """A draft with the channel, the author and the id that the message will have."""

    access: ChannelAccess
    author: Author
    draft: Draft
    id: MessageId
    interaction: InteractionFields | None = None


class MessageEdit(Struct, frozen=True, kw_only=True):
    """An edit of a stored message. `author` decides what new content may mention."""

    access: ChannelAccess
    row: MessageRow
    author: Author
    draft: EditDraft
    head: Head
    """The head that is stored."""
    text: Text
    """The text that is stored."""
    flags: int
    """The flags after the edit."""
    layout: bool
    """Whether the message has IS_COMPONENTS_V2 after the edit."""
    converts: bool
    """Whether the edit sets IS_COMPONENTS_V2 on a message that did not have it."""
    completes: bool
    """Whether it ends LOADING, the state of a deferred response; `edited_timestamp` then stays null."""

    @classmethod
    def of(
        cls, access: ChannelAccess, row: MessageRow, author: Author, draft: EditDraft, *, completes: bool = False
    ) -> "MessageEdit":
        """The edit of a row."""
        head = decode_head(row.body)
        flags = head.flags & ~MessageFlags.LOADING if completes else head.flags
        if draft.flags is not UNSET:
            flags = flags & ~MessageFlags.SUPPRESS_EMBEDS | draft.flags & EDITABLE
        layout = is_layout(flags)
        return cls(
            access=access,
            row=row,
            author=author,
            draft=draft,
            head=head,
            text=decode_text(row.body),
            flags=flags,
            layout=layout,
            converts=layout and not is_layout(head.flags),
            completes=completes,
        )
