"""Webhooks (api.md, Webhook object)."""

from enum import IntEnum

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.channel import PartialChannel
from moothall.objects.ids import ApplicationId, ChannelId, GuildId, WebhookId
from moothall.objects.user import User


class WebhookType(IntEnum):
    """The type of a webhook."""

    INCOMING = 1
    CHANNEL_FOLLOWER = 2
    APPLICATION = 3


class SourceGuild(Struct, frozen=True, kw_only=True):
    """The guild that a channel follower copies from."""

    id: GuildId
    name: str
    icon: str | None


class Webhook(Struct, frozen=True, kw_only=True):
    """A webhook.

    `user` (its creator) is absent if it is fetched with its token; `token` is present for incoming webhooks,
    `source_guild` and `source_channel` for channel followers, `url` in the OAuth2 response.
    """

    id: WebhookId
    type: int
    guild_id: GuildId | UnsetType | None = UNSET
    channel_id: ChannelId | None
    user: User | UnsetType = UNSET
    name: str | None
    avatar: str | None
    token: str | UnsetType = UNSET
    application_id: ApplicationId | None
    source_guild: SourceGuild | UnsetType = UNSET
    source_channel: PartialChannel | UnsetType = UNSET
    url: str | UnsetType = UNSET
