"""Operations: set and delete the permission overwrites of a channel."""

from msgspec import structs

from moothall.api.context import Context
from moothall.authority.channel_queries import select_channel
from moothall.objects import errors, limits
from moothall.objects.channel import Channel, Overwrite
from moothall.objects.errors import Refusal
from moothall.objects.ids import RoleId, Snowflake
from moothall.resources.channel import overwrites, queries
from moothall.resources.channel.operations.guild_channel import guild_channel_of, save_channel
from moothall.resources.channel.requests import (
    EditChannelPermissions,
)


async def edit_channel_permissions(ctx: Context, target: Snowflake, body: EditChannelPermissions) -> None:
    """Set the overwrite of a role or member in the current channel.

    Raises Refusal: 404/10009 for an id that is neither a role nor a member of the guild, 403/50013 for permissions
    that the caller lacks, 403/50003 for a direct message, 400/50024 for a thread.
    """
    channel = guild_channel_of(ctx)
    before = list(channel.permission_overwrites or ())
    existing = next((o for o in before if o.id == target), None)
    is_role = RoleId(target) in ctx.guild.roles
    kind = int(body.type) if isinstance(body.type, int) else int(not is_role)
    if kind == 0 and not is_role:
        raise Refusal(errors.UNKNOWN_OVERWRITE)
    is_listed = existing is not None and existing.type == kind
    if kind != 0 and not is_listed and not await queries.select_member_ids(ctx.tx, ctx.guild.id, [target]):
        raise Refusal(errors.UNKNOWN_OVERWRITE)
    now = overwrites.overwrite_object(target, kind, body.allow, body.deny)
    after = [now if o.id == target else o for o in before] if existing else [*before, now]
    bits = overwrites.changed_permissions(before, after)
    overwrites.require_changeable(ctx.member, bits, await overwrites.changeable_permissions(ctx, channel))
    if len(after) > limits.CHANNEL_OVERWRITES_MAX:
        raise Refusal(errors.TOO_MANY_OVERWRITES)
    await _save_overwrites(ctx, channel, after)


async def delete_channel_permission(ctx: Context, target: Snowflake) -> None:
    """Delete the overwrite of a role or member in the current channel.

    Raises Refusal: 404/10009 if there is none, 403/50013 for permissions in it that the caller could not set either.
    """
    channel = guild_channel_of(ctx)
    before = list(channel.permission_overwrites or ())
    after = [o for o in before if o.id != target]
    if len(after) == len(before):
        raise Refusal(errors.UNKNOWN_OVERWRITE)
    bits = overwrites.changed_permissions(before, after)
    overwrites.require_changeable(ctx.member, bits, await overwrites.changeable_permissions(ctx, channel))
    await _save_overwrites(ctx, channel, after)


async def _save_overwrites(ctx: Context, channel: Channel, after: list[Overwrite]) -> None:
    row = await select_channel(ctx.tx, channel.id)
    if row is not None:
        await save_channel(ctx, row, structs.replace(row, permission_overwrites=overwrites.overwrites_column(after)))
