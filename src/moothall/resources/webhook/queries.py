"""The SQL of webhooks."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from moothall.objects.ids import ApplicationId, ChannelId, GuildId, UserId, WebhookId
from moothall.storage.database import Query, Reader, Transaction, in_list, insert_ignore, update_columns
from moothall.storage.sql import bindparam, delete, func, insert, select
from moothall.storage.tables import channels, guilds, members, users, webhook_avatars, webhooks


class WebhookRow(Struct, frozen=True):
    """A row of `webhooks`."""

    id: WebhookId
    guild_id: GuildId | None
    channel_id: ChannelId | None
    type: int
    name: str | None
    avatar: str | None
    token: bytes | None
    token_hash: bytes | None
    user_id: UserId | None
    application_id: ApplicationId | None
    source_guild_id: GuildId | None
    source_channel_id: ChannelId | None
    url: str | None


class VersionedWebhook(WebhookRow, frozen=True):
    """A webhook with its guild's version, by which its channel can be loaded from memory."""

    version: int | None


class SourceRow(Struct):
    """The source channel and guild of a channel follower."""

    webhook_id: WebhookId
    channel_id: ChannelId
    channel_name: str | None
    guild_id: GuildId
    guild_name: str
    guild_icon: str | None


_select_webhook = Query(
    lambda: (
        select(webhooks, guilds.c.version)
        .select_from(webhooks.outerjoin(guilds, guilds.c.id == webhooks.c.guild_id))
        .where(webhooks.c.id == bindparam("webhook_id"))
    ),
    into=VersionedWebhook,
    key=("webhook_id",),
)
_select_of_channel = Query(
    lambda: select(webhooks).where(webhooks.c.channel_id == bindparam("channel_id")).order_by(webhooks.c.id),
    into=WebhookRow,
)
_select_of_guild = Query(
    lambda: select(webhooks).where(webhooks.c.guild_id == bindparam("guild_id")).order_by(webhooks.c.id),
    into=WebhookRow,
)
_select_of_bot = Query(
    lambda: (
        select(webhooks)
        .select_from(webhooks.join(users, users.c.application_id == webhooks.c.application_id))
        .where(webhooks.c.guild_id == bindparam("guild_id"), users.c.id == bindparam("user_id"), users.c.bot)
        .order_by(webhooks.c.id)
    ),
    into=WebhookRow,
)
_count_of_channel = Query(
    lambda: select(func.count()).select_from(webhooks).where(webhooks.c.channel_id == bindparam("channel_id"))
)
_count_of_guild = Query(
    lambda: select(func.count()).select_from(webhooks).where(webhooks.c.guild_id == bindparam("guild_id"))
)
_select_sources = Query(
    lambda: (
        select(
            webhooks.c.id.label("webhook_id"),
            channels.c.id.label("channel_id"),
            channels.c.name.label("channel_name"),
            channels.c.guild_id,
            guilds.c.name.label("guild_name"),
            guilds.c.icon.label("guild_icon"),
        )
        .select_from(
            webhooks.join(channels, channels.c.id == webhooks.c.source_channel_id)
            .join(guilds, guilds.c.id == channels.c.guild_id)
            .join(members, (members.c.guild_id == guilds.c.id) & (members.c.user_id == webhooks.c.user_id))
        )
        .where(in_list(webhooks.c.id, "webhook_ids"))
    ),
    into=SourceRow,
)
_insert_avatar = Query(lambda: insert_ignore(webhook_avatars, key=("hash",)))
_insert_webhook = Query(lambda: insert(webhooks))
_delete_webhooks = Query(lambda: delete(webhooks).where(in_list(webhooks.c.id, "webhook_ids")))
_delete_of_channel = Query(lambda: delete(webhooks).where(webhooks.c.channel_id == bindparam("channel_id")))


async def select_webhook(reader: Reader, webhook_id: WebhookId) -> VersionedWebhook | None:
    """Select a webhook; None if there is none."""
    return await reader.one(_select_webhook, webhook_id=webhook_id)


async def select_of_channel(reader: Reader, channel_id: ChannelId) -> list[WebhookRow]:
    """Select the webhooks of a channel, oldest first."""
    return await reader.all(_select_of_channel, channel_id=channel_id)


async def select_of_guild(reader: Reader, guild_id: GuildId) -> list[WebhookRow]:
    """Select the webhooks of a guild, oldest first."""
    return await reader.all(_select_of_guild, guild_id=guild_id)


async def select_of_bot(reader: Reader, guild_id: GuildId, bot_id: UserId) -> list[WebhookRow]:
    """Select the webhooks that a bot's application owns in a guild."""
    return await reader.all(_select_of_bot, guild_id=guild_id, user_id=bot_id)


async def select_sources(reader: Reader, rows: Sequence[WebhookRow]) -> dict[WebhookId, SourceRow]:
    """Select the sources of channel followers, by webhook.

    Deleted channels are left out, and guilds that the webhook's creator is no longer a member of.
    """
    following = [row.id for row in rows if row.source_channel_id is not None]
    sources = await reader.all(_select_sources, webhook_ids=following) if following else []
    return {row.webhook_id: row for row in sources}


async def count_of_channel(reader: Reader, channel_id: ChannelId) -> int:
    """Count the webhooks of a channel."""
    return int(await reader.scalar(_count_of_channel, channel_id=channel_id))


async def count_of_guild(reader: Reader, guild_id: GuildId) -> int:
    """Count the webhooks of a guild."""
    return int(await reader.scalar(_count_of_guild, guild_id=guild_id))


async def insert_webhook(tx: Transaction, row: WebhookRow) -> None:
    """Insert a webhook."""
    await _keep_avatar(tx, row.avatar)
    await tx.execute(_insert_webhook, **{name: getattr(row, name) for name in WebhookRow.__struct_fields__})


async def update_webhook(tx: Transaction, webhook_id: WebhookId, **columns: Any) -> bool:
    """Update columns of a webhook; return False if it was deleted."""
    await _keep_avatar(tx, columns.get("avatar"))
    query = update_columns(webhooks, key=("id",), columns=frozenset(columns))
    return await tx.execute(query, id=webhook_id, **columns) > 0


async def _keep_avatar(tx: Transaction, avatar: str | None) -> None:
    """Keep an image for the messages that will show it, also once the webhook has another."""
    if avatar is not None:
        await tx.execute(_insert_avatar, hash=avatar)


async def delete_webhooks(tx: Transaction, webhook_ids: Sequence[WebhookId]) -> int:
    """Delete webhooks; return their number."""
    return await tx.execute(_delete_webhooks, webhook_ids=webhook_ids)


async def delete_of_channel(tx: Transaction, channel_id: ChannelId) -> None:
    """Delete the webhooks of a channel."""
    await tx.execute(_delete_of_channel, channel_id=channel_id)
