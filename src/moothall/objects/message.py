"""Messages (resources: message)."""

from enum import IntEnum
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.application import IntegrationApplication
from moothall.objects.call import MessageCall
from moothall.objects.channel import Channel, ChannelMention
from moothall.objects.component import MessageComponent
from moothall.objects.embed import Embed
from moothall.objects.emoji import PartialEmoji
from moothall.objects.ids import (
    ApplicationId,
    AttachmentId,
    ChannelId,
    GuildId,
    MessageId,
    RoleId,
    UserId,
    WebhookId,
)
from moothall.objects.member import Member
from moothall.objects.message_types import MessageReferenceType
from moothall.objects.sticker import StickerItem
from moothall.objects.user import User
from moothall.objects.wire import Timestamp


class Attachment(Struct, frozen=True, kw_only=True):
    """A file of a message; `size` is in bytes. Images have width and height in pixels."""

    id: AttachmentId
    filename: str
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    content_type: str | UnsetType = UNSET
    size: int
    url: str
    proxy_url: str
    height: int | UnsetType | None = UNSET
    width: int | UnsetType | None = UNSET
    placeholder: str | UnsetType = UNSET
    placeholder_version: int | UnsetType = UNSET
    ephemeral: bool | UnsetType = UNSET
    duration_secs: float | UnsetType = UNSET
    waveform: str | UnsetType = UNSET
    flags: int | UnsetType = UNSET
    clip_participants: list[User] | UnsetType = UNSET
    clip_created_at: Timestamp | UnsetType = UNSET
    application: IntegrationApplication | UnsetType = UNSET


class MessageReference(Struct, frozen=True, kw_only=True):
    """The message that another message replies to, forwards or refers to."""

    type: int = MessageReferenceType.DEFAULT
    message_id: MessageId | UnsetType = UNSET
    channel_id: ChannelId
    guild_id: GuildId | UnsetType = UNSET


class ReactionCounts(Struct, frozen=True, kw_only=True):
    """The number of reactions by kind."""

    burst: int = 0
    normal: int = 0


class Reaction(Struct, frozen=True, kw_only=True):
    """The reactions to a message with one emoji; `me` is whether the caller reacted."""

    emoji: PartialEmoji
    count: int
    count_details: ReactionCounts
    me: bool
    me_burst: bool = False
    burst_colors: list[str] = []


class MessageActivityType(IntEnum):
    """What a message asks others to do in an activity."""

    JOIN = 1
    SPECTATE = 2
    LISTEN = 3
    JOIN_REQUEST = 5
    STREAM_REQUEST = 6


class MessageActivity(Struct, frozen=True, kw_only=True):
    """An invitation to the author's activity, or a request for one."""

    type: MessageActivityType
    party_id: str | UnsetType = UNSET


class Message(Struct, frozen=True, kw_only=True):
    """A message. Dispatches add `guild_id` and the author's `member` (without `user`).

    `referenced_message` is absent if the type of reference has none, and null if the message was deleted. A webhook's
    message has the webhook's id as `author.id`, and `webhook_id`.
    """

    id: MessageId
    channel_id: ChannelId
    author: User
    content: str
    timestamp: Timestamp
    edited_timestamp: Timestamp | None = None
    tts: bool = False
    mention_everyone: bool = False
    mentions: list[User]
    mention_roles: list[RoleId]
    mention_channels: list[ChannelMention] | UnsetType = UNSET
    attachments: list[Attachment]
    embeds: list[Embed]
    reactions: list[Reaction] | UnsetType = UNSET
    nonce: int | str | UnsetType = UNSET
    pinned: bool = False
    webhook_id: WebhookId | UnsetType = UNSET
    type: int = 0
    activity: MessageActivity | UnsetType = UNSET
    application: IntegrationApplication | UnsetType = UNSET
    application_id: ApplicationId | UnsetType = UNSET
    flags: int = 0
    message_reference: MessageReference | UnsetType = UNSET
    message_snapshots: list[Any] | UnsetType = UNSET
    referenced_message: "Message | UnsetType | None" = UNSET
    interaction_metadata: Any = UNSET
    interaction: Any = UNSET
    thread: Channel | UnsetType = UNSET
    components: list[MessageComponent] = []
    sticker_items: list[StickerItem] | UnsetType = UNSET
    position: int | UnsetType = UNSET
    role_subscription_data: Any = UNSET
    resolved: Any = UNSET
    poll: Any = UNSET
    call: MessageCall | UnsetType = UNSET
    guild_id: GuildId | UnsetType = UNSET
    member: Member | UnsetType = UNSET


class PinnedMessage(Struct, frozen=True, kw_only=True):
    """A pinned message and the time when it was pinned."""

    pinned_at: Timestamp
    message: Message


class SupplementalMessageRequest(Struct, frozen=True, kw_only=True):
    """A message request with its first message."""

    channel_id: ChannelId
    message_preview: Message


class PinList(Struct, frozen=True, kw_only=True):
    """A page of a channel's pins, newest pin first."""

    items: list[PinnedMessage]
    has_more: bool


class AllowedMentions(Struct, frozen=True, kw_only=True):
    """The `allowed_mentions` of a request; see `mentions.allow`.

    `parse` lists kinds ("users", "roles", "everyone"); `users` and `roles` list ids instead. Null equals absent.
    """

    parse: list[str] | UnsetType | None = UNSET
    users: list[UserId] | UnsetType | None = UNSET
    roles: list[RoleId] | UnsetType | None = UNSET
    replied_user: bool | UnsetType | None = UNSET
