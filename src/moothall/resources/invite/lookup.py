"""Resolving invite codes: the codes of invites, and the vanity codes of guilds."""

from moothall.api.context import Context
from moothall.authority.guild_state import GuildState
from moothall.objects import errors
from moothall.objects.channel import Channel
from moothall.objects.channel_types import INVITABLE, ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.features import Feature
from moothall.objects.guild import IncidentsData
from moothall.objects.ids import GuildId, ScheduledEventId
from moothall.objects.invite import Invite, InviteType
from moothall.objects.json_object import JsonObject
from moothall.objects.permissions import Permissions, channel_permissions
from moothall.objects.wire import convert
from moothall.resources.invite import queries
from moothall.resources.invite.friend.lookup import find_friend_invite, show_friend_invite
from moothall.resources.invite.group_invites import group_invite_object
from moothall.resources.invite.objects import invite_objects, vanity_invite, without_metadata
from moothall.resources.invite.queries import InviteRow
from moothall.resources.invite.stages_and_events import with_stages_and_events
from moothall.resources.invite.target_users.operations import require_target
from moothall.resources.member.queries import count_members


async def resolve_invite(
    ctx: Context, code: str, *, with_counts: bool = False, event_id: ScheduledEventId | None = None
) -> Invite:
    """The public invite object of a code, with an event of the guild if requested. Raises Refusal: 404/10006."""
    group = await find_group_invite(ctx, code)
    if group is not None:
        return await group_invite_object(ctx, group, with_counts=with_counts)
    friend = await find_friend_invite(ctx, code)
    if friend is not None:
        return await show_friend_invite(ctx, friend)
    row, guild = await find_invite(ctx, code)
    await require_target(ctx, row, guild, accepts=False)
    invite = await invite_object(ctx, row, guild, with_counts=with_counts)
    return await with_stages_and_events(ctx, invite, guild, event_id)


async def find_group_invite(ctx: Context, code: str) -> InviteRow | None:
    """The live invite to a group with this code; None for any other code."""
    row = await queries.select_invite(ctx.tx, code, ctx.now)
    return row if row is not None and row.type == InviteType.GROUP_DM else None


async def find_invite(ctx: Context, code: str) -> tuple[InviteRow | None, GuildState]:
    """The live invite with this code and its guild; the invite is None for a vanity code. Raises Refusal: 404/10006."""
    row = await queries.select_invite(ctx.tx, code, ctx.now)
    guild_id: GuildId | None = await queries.select_vanity_guild(ctx.tx, code) if row is None else row.guild_id
    guild = None if guild_id is None else await ctx.services.states.state(ctx.tx, guild_id, writes=ctx.writes)
    if guild is None:
        raise Refusal(errors.UNKNOWN_INVITE)
    return row, guild


async def invite_object(ctx: Context, row: InviteRow | None, guild: GuildState, *, with_counts: bool = False) -> Invite:
    """The public invite object for a result of `find_invite`. Raises Refusal: 404/10006 for a deleted channel."""
    counts: JsonObject = {}
    if with_counts:
        counts["members"] = await count_members(ctx.tx, guild.id)
        counts["presences"] = ctx.services.presences.online_count(guild.id)
    if row is None:
        return vanity_invite(guild, await _vanity_channel(ctx, guild), **counts)
    invites = await invite_objects(ctx, guild, [row])
    if not invites:
        raise Refusal(errors.UNKNOWN_INVITE)
    return without_metadata(invites[0], **counts)


async def _vanity_channel(ctx: Context, guild: GuildState) -> Channel | None:
    """The channel of a vanity invite: the first that @everyone can view, text channels first."""
    channels = await guild.channels(ctx.tx)
    visible = [
        channel
        for channel in channels.values()
        if channel.type in INVITABLE
        and channel_permissions(
            guild.everyone.permissions,
            everyone_id=guild.id,
            role_ids=(),
            user_id=0,
            overwrites=guild.overwrites(channel),
        )
        & Permissions.VIEW_CHANNEL
    ]
    return min(visible, key=lambda c: (c.type != ChannelType.GUILD_TEXT, c.position or 0, c.id), default=None)


def are_invites_paused(ctx: Context, guild: GuildState) -> bool:
    """Whether invites to a guild are paused: by the feature INVITES_DISABLED, or by an incident action."""
    if Feature.INVITES_DISABLED in guild.row.features:
        return True
    if guild.row.incidents_data is None:
        return False
    until = convert(guild.row.incidents_data, IncidentsData).invites_disabled_until
    return until is not None and until > ctx.now
