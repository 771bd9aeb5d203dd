"""Guilds over HTTP, as operators find and change them."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.api.context import Context
from moothall.api.endpoint import delete, get, patch, post
from moothall.api.operators import may_act, may_read
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import GuildId, UserId
from moothall.objects.operator import OperatorPermission
from moothall.objects.wire import Timestamp
from moothall.resources.guild.events import GuildDelete, GuildUpdate
from moothall.resources.guild_administration import operations, queries
from moothall.resources.guild_administration.queries import GuildSummaryRow
from moothall.resources.guild_deletion.operations import deletion
from moothall.resources.soundboard.events import GuildSoundboardSoundsUpdate

_READS, _ACTS = may_read(OperatorPermission.GUILDS), may_act(OperatorPermission.GUILDS)


class AdministeredGuild(Struct, frozen=True, kw_only=True):
    """A guild, as operators see it: nothing of what its members write."""

    id: GuildId
    name: str
    owner_id: UserId
    owner_name: str | None
    features: list[str]
    premium_tier: int
    member_count: int
    max_members: int
    """With so many members it is full."""
    created_at: Timestamp
    deleted_at: Timestamp | None
    """When an operator has deleted it; null if it is there."""
    deletes_at: Timestamp | None
    """When it is deleted for good."""


class AdministeredGuildWithUse(AdministeredGuild, frozen=True, kw_only=True):
    """A guild with what it has."""

    channel_count: int
    """Threads included."""
    file_bytes: int
    """Bytes of the files of its messages."""
    storage_quota_mb: int | None
    """Megabytes that its files may have, 0 for any number; null where the setting counts."""


class GuildStorage(Struct, frozen=True, kw_only=True):
    """What a guild has stored, and may."""

    id: GuildId
    name: str | None
    """Null while a guild that is gone is cleared away."""
    file_bytes: int
    """Bytes of the files of its messages."""
    quota_mb: int
    """Megabytes that they may have, by its own quota or the setting; 0 for any number."""


class ModifyAdministeredGuild(Struct, frozen=True):
    """What no member can change in their own guild, and the owner, who must be a member."""

    features: Annotated[list[Annotated[str, Meta(max_length=64)]], Meta(max_length=100)] | UnsetType = UNSET
    premium_tier: Annotated[int, Meta(ge=0, le=3)] | UnsetType = UNSET
    owner_id: UserId | UnsetType = UNSET
    max_members: Annotated[int, Meta(ge=2, le=500_000)] | UnsetType = UNSET
    storage_quota_mb: Annotated[int, Meta(ge=0, le=1_000_000_000)] | UnsetType | None = UNSET
    """Megabytes that its files may have, 0 for any number; null for those of the setting."""


class RestoreGuild(Struct, frozen=True):
    """Who owns the guild from now on; its owner before, if none is named."""

    owner_id: UserId | None = None


@get("/admin/v1/guilds", permission=_READS)
async def list_administered_guilds(
    ctx: Context,
    *,
    search: Annotated[str, Meta(max_length=100)] = "",
    deleted: bool = False,
    before: GuildId | None = None,
    limit: Annotated[int, Meta(ge=1, le=100)] = 50,
) -> list[AdministeredGuild]:
    """List guilds, newest first: those with `search` in their names; with `deleted` those that can be restored."""
    select = queries.select_deleted_guilds if deleted else queries.select_guilds
    rows = await select(ctx.tx, search=search, before=before, maximum=limit)
    return [_guild(row) for row in rows]


@get("/admin/v1/storage/guilds", permission=_READS)
async def list_guild_storage(ctx: Context, *, limit: Annotated[int, Meta(ge=1, le=100)] = 50) -> list[GuildStorage]:
    """List the guilds whose messages' files have most bytes, the largest first."""
    setting = ctx.services.limits.storage_quota_mb_per_guild
    return [
        GuildStorage(
            id=row.guild_id,
            name=row.name,
            file_bytes=row.bytes,
            quota_mb=setting if row.quota_mb is None else row.quota_mb,
        )
        for row in await queries.select_largest(ctx.tx, limit)
    ]


@get("/admin/v1/guilds/{guild_id}", permission=_READS)
async def get_administered_guild(ctx: Context, guild_id: GuildId) -> AdministeredGuildWithUse:
    """Return a guild with what it has."""
    return await _with_use(ctx, guild_id)


@patch(
    "/admin/v1/guilds/{guild_id}",
    permission=_ACTS,
    audit_reason=True,
    fires=(GuildUpdate, GuildSoundboardSoundsUpdate),
)
async def modify_administered_guild(
    ctx: Context, guild_id: GuildId, body: ModifyAdministeredGuild
) -> AdministeredGuildWithUse:
    """Change the features, the premium tier, the owner and the quotas of a guild, whose audit log records it too."""
    await ctx.visit_guild(guild_id)
    await operations.modify_guild(
        ctx,
        features=None if body.features is UNSET else body.features,
        premium_tier=None if body.premium_tier is UNSET else body.premium_tier,
        owner_id=None if body.owner_id is UNSET else body.owner_id,
        max_members=None if body.max_members is UNSET else body.max_members,
    )
    if body.storage_quota_mb is not UNSET:
        await operations.set_storage_quota(ctx, body.storage_quota_mb)
    return await _with_use(ctx, guild_id)


@delete("/admin/v1/guilds/{guild_id}", permission=_ACTS, audit_reason=True, fires=(GuildDelete,), status=200)
async def delete_administered_guild(
    ctx: Context, guild_id: GuildId, *, days: Annotated[int, Meta(ge=0, le=365)] | None = None
) -> AdministeredGuildWithUse:
    """Delete a guild: it is gone for everyone at once, and can be restored for so many days.

    Without `days` those of the setting `guild_deletion_days`; with 0 it is deleted for good.
    """
    await ctx.visit_guild(guild_id)
    waiting = ctx.services.limits.guild_deletion_days if days is None else days
    await deletion.delete_guild(ctx, days=waiting)
    return await _with_use(ctx, guild_id)


@post("/admin/v1/guilds/{guild_id}/restore", permission=_ACTS, audit_reason=True)
async def restore_administered_guild(ctx: Context, guild_id: GuildId, body: RestoreGuild) -> AdministeredGuildWithUse:
    """Bring a deleted guild back, with its members, channels, messages, invites and webhooks.

    One of many members is back soon after, and until then among the deleted ones.
    """
    await deletion.restore_guild(ctx, guild_id, owner_id=body.owner_id)
    return await _with_use(ctx, guild_id)


async def _with_use(ctx: Context, guild_id: GuildId) -> AdministeredGuildWithUse:
    row = await queries.select_guild(ctx.tx, guild_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_GUILD)
    guild = _guild(row)
    fields = {name: getattr(guild, name) for name in guild.__struct_fields__}
    file_bytes, quota = await queries.select_storage(ctx.tx, guild_id)
    channel_count = await queries.count_channels(ctx.tx, guild_id)
    return AdministeredGuildWithUse(
        **fields, channel_count=channel_count, file_bytes=file_bytes, storage_quota_mb=quota
    )


def _guild(row: GuildSummaryRow) -> AdministeredGuild:
    return AdministeredGuild(
        id=row.id,
        name=row.name,
        owner_id=row.owner_id,
        owner_name=row.owner_name,
        features=row.features,
        premium_tier=row.premium_tier,
        member_count=row.member_count,
        max_members=row.max_members,
        created_at=Timestamp(row.id.created_ms),
        deleted_at=row.deleted_at,
        deletes_at=row.deletes_at,
    )
