"""Guild bans over HTTP (api.md, Bans)."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from moothall.api.context import Context
from moothall.api.endpoint import delete, get, post, put
from moothall.objects import errors, limits
from moothall.objects.ban import Ban, BulkBanResult
from moothall.objects.errors import Refusal
from moothall.objects.ids import GuildId, Snowflake, UserId
from moothall.objects.permissions import Permissions
from moothall.resources.guild.ban import operations, queries
from moothall.resources.guild.ban.events import GuildBanRemove
from moothall.resources.guild.ban.queries import BanRow
from moothall.resources.user.queries import get_users
from moothall.storage.bulk import map_batches

Seconds = Annotated[int, Meta(ge=0, le=limits.BAN_DELETE_SECONDS_MAX)]
Days = Annotated[int, Meta(ge=0, le=limits.BAN_DELETE_DAYS_MAX)]

_DAY = 86_400
_BATCH = 50
"""Bans that are made at once: a fraction of a millisecond."""


class CreateGuildBan(Struct, frozen=True):
    """The body of Create Guild Ban; older clients send `delete_message_days`."""

    delete_message_seconds: Seconds | None = None
    delete_message_days: Days | None = None


class BulkGuildBan(Struct, frozen=True):
    """The body of Bulk Guild Ban."""

    user_ids: Annotated[list[UserId], Meta(max_length=limits.BULK_BAN_MAX)]
    delete_message_seconds: Seconds | None = None


@get("/guilds/{guild_id}/bans", permission=Permissions.BAN_MEMBERS)
async def get_guild_bans(
    ctx: Context,
    guild_id: GuildId,
    *,
    limit: Annotated[int, Meta(ge=1, le=limits.BAN_LIST_MAX)] = limits.BAN_LIST_MAX,
    before: UserId | None = None,
    after: UserId | None = None,
) -> list[Ban]:
    """List bans by ascending user id; with both, `before` takes precedence over `after`."""
    if before is not None:
        rows = await queries.select_bans_before(ctx.tx, guild_id, before, limit)
    else:
        rows = await queries.select_bans_after(ctx.tx, guild_id, after or UserId(Snowflake(0)), limit)
    return await _bans(ctx, rows)


@get("/guilds/{guild_id}/bans/search", permission=Permissions.BAN_MEMBERS)
async def search_guild_bans(
    ctx: Context,
    guild_id: GuildId,
    *,
    query: Annotated[str, Meta(min_length=1, max_length=32)] | None = None,
    user_ids: Annotated[list[UserId], Meta(max_length=limits.BAN_SEARCH_MAX)] | None = None,
    limit: Annotated[int, Meta(ge=1, le=limits.BAN_SEARCH_MAX)] = limits.BAN_SEARCH_MAX,
) -> list[Ban]:
    """List bans of users whose username or display name contains `query`, of those in `user_ids` if there are any."""
    return await _bans(ctx, await queries.search_bans(ctx.tx, guild_id, query, user_ids, limit))


@get("/guilds/{guild_id}/bans/{user_id}", permission=Permissions.BAN_MEMBERS)
async def get_guild_ban(ctx: Context, guild_id: GuildId, user_id: UserId) -> Ban:
    """Get a ban; 404/10026 for a user who is not banned."""
    row = await queries.get_ban(ctx.tx, guild_id, user_id)
    bans = [] if row is None else await _bans(ctx, [row])
    if not bans:
        raise Refusal(errors.UNKNOWN_BAN)
    return bans[0]


@put(
    "/guilds/{guild_id}/bans/{user_id}",
    permission=Permissions.BAN_MEMBERS,
    audit_reason=True,
    fires=operations.BAN_EVENTS,
)
async def create_guild_ban(
    ctx: Context,
    guild_id: GuildId,
    user_id: UserId,
    body: CreateGuildBan,
    *,
    delete_message_seconds: Seconds | None = None,
    delete_message_days: Days | None = None,
) -> None:
    """Ban a user, optionally deleting their recent messages. Some clients send the body's fields in the query."""
    seconds, days = body.delete_message_seconds, body.delete_message_days
    if seconds is None and days is None:
        seconds, days = delete_message_seconds, delete_message_days
    delete_seconds = (days or 0) * _DAY if seconds is None else seconds
    await operations.ban_user(ctx, guild_id, user_id, delete_message_seconds=delete_seconds)


@delete(
    "/guilds/{guild_id}/bans/{user_id}",
    permission=Permissions.BAN_MEMBERS,
    audit_reason=True,
    fires=(GuildBanRemove,),
)
async def remove_guild_ban(ctx: Context, guild_id: GuildId, user_id: UserId) -> None:
    """Unban a user; 404/10026 for a user who is not banned."""
    await operations.unban_user(ctx, guild_id, user_id)


@post(
    "/guilds/{guild_id}/bulk-ban",
    permission=Permissions.BAN_MEMBERS | Permissions.MANAGE_GUILD,
    audit_reason=True,
    fires=operations.BAN_EVENTS,
)
async def bulk_guild_ban(ctx: Context, guild_id: GuildId, body: BulkGuildBan) -> BulkBanResult:
    """Ban up to 200 users at once; 400/500000 if none of them could be banned."""
    seconds = body.delete_message_seconds or 0
    return await operations.bulk_ban_users(ctx, guild_id, body.user_ids, delete_message_seconds=seconds)


async def _bans(ctx: Context, rows: Sequence[BanRow]) -> list[Ban]:
    async def make_batch(batch: Sequence[BanRow]) -> list[Ban]:
        users = await get_users(ctx.tx, [row.user_id for row in batch])
        return [Ban(reason=row.reason, user=users[row.user_id]) for row in batch if row.user_id in users]

    return await map_batches(ctx.tx, make_batch, rows, _BATCH)
