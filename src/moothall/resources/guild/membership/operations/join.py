"""Adding members to a guild, and ending their membership screening."""

from collections.abc import Sequence
from typing import Final

from msgspec import structs

from moothall.api.context import Context
from moothall.api.hooks import Fires, Hook
from moothall.authority.channel_access import ChannelAccess
from moothall.authority.guild_state import GuildState
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.features import Feature
from moothall.objects.guild import SystemChannelFlags
from moothall.objects.ids import ChannelId, GuildId, RoleId, Snowflake, UserId
from moothall.objects.member import MemberFlags
from moothall.objects.message_types import MessageType
from moothall.objects.text import search_key
from moothall.resources.member import queries
from moothall.resources.member.events import GuildMemberAdd, GuildMemberUpdate, GuildOpen
from moothall.resources.message.events import MessageCreate
from moothall.resources.message.operations import send_system_message
from moothall.resources.user.queries import lock_user
from moothall.resources.user.settings.operations import SETTINGS_EVENTS, restrict_new_guild
from moothall.storage.rows import MemberRow, UserRow, member_from_row, user_from_row

MEMBER_JOINED: Final = Hook[[Context, GuildState, UserId], None]("member joined")
"""Called after a user was added to a guild, in the same transaction."""
BOT_JOIN_EVENTS: Final[Fires] = (GuildMemberAdd, MessageCreate, MEMBER_JOINED)
"""The events of `join_guild` for a bot, which every row that calls it for bots declares."""
JOIN_EVENTS: Final[Fires] = (*BOT_JOIN_EVENTS, *SETTINGS_EVENTS)
"""The events of `join_guild` for a person, whose settings may restrict the new guild."""
ADMIT_EVENTS: Final[Fires] = (GuildMemberUpdate, MessageCreate)
"""The events of `admit_member`, which every row that calls it declares."""


async def join_guild(
    ctx: Context,
    state: GuildState,
    user: UserRow,
    *,
    temporary: bool = False,
    roles: Sequence[RoleId] = (),
    nick: str | None = None,
    flags: int = 0,
    mute: bool = False,
    deaf: bool = False,
    guest_channel_id: ChannelId | None = None,
) -> MemberRow:
    """Add a user to a guild, emit GUILD_MEMBER_ADD and post the join message; an existing member is returned unchanged.

    A `temporary` member without roles is removed when their last session ends. So is a guest, who sees only the voice
    channel `guest_channel_id`, is not screened and gets no join message. One who rejoins is still timed out, muted and
    deafened as when they left; their roles, nickname and other flags do not come back. In a guild with membership
    screening, users start as pending and `admit_member` posts the join message later. The caller checks whether the
    roles and the nickname may be set, and every rule of the invite or token used.

    Raises Refusal: 403/40007 for a banned user, 400/30019 for a full guild, 400/30001 for a user in too many guilds.
    """
    existing = await queries.get_member(ctx.tx, state.id, user.id)
    if existing is not None:
        return existing
    has_room = await queries.increment_member_count(ctx.tx, state.id, state.row.max_members)
    if await queries.is_banned(ctx.tx, state.id, user.id):
        raise Refusal(errors.USER_BANNED)
    if not has_room:
        raise Refusal(errors.TOO_MANY_MEMBERS)
    maximum = ctx.services.limits.max_guilds(premium=bool(user.premium_type))
    await lock_user(ctx.tx, user.id)
    if not user.bot and await queries.count_guilds(ctx.tx, user.id) >= maximum:
        raise Refusal(errors.TOO_MANY_GUILDS)
    former = await queries.get_former_member(ctx.tx, state.id, user.id)
    timed_out_until = None
    if former is not None:
        flags |= MemberFlags.DID_REJOIN
        mute, deaf = mute or former.mute, deaf or former.deaf
        timed_out_until = former.communication_disabled_until
    if guest_channel_id is not None:
        flags |= MemberFlags.IS_GUEST
    row = MemberRow(
        guild_id=state.id,
        user_id=user.id,
        nick=nick,
        nick_key=None if nick is None else search_key(nick),
        username_key=user.username_key,
        avatar=None,
        banner=None,
        bio=None,
        roles=[Snowflake(role) for role in roles],
        joined_at=ctx.now,
        premium_since=None,
        deaf=deaf,
        mute=mute,
        flags=flags,
        pending=guest_channel_id is None and requires_screening(state, user),
        communication_disabled_until=timed_out_until if timed_out_until and timed_out_until > ctx.now else None,
        temporary=guest_channel_id is not None or (temporary and not roles),
        guest_channel_id=guest_channel_id,
    )
    if not await queries.insert_member(ctx.tx, row):
        # A concurrent request added, counted and announced the same user.
        await queries.undo_increment(ctx.tx, state.id)
        return await queries.get_member(ctx.tx, state.id, user.id) or row
    ctx.emit(GuildOpen(user_id=user.id, guild_id=state.id))
    ctx.emit(GuildMemberAdd(guild_id=state.id, member=member_from_row(row, user_from_row(user))))
    if not row.pending and guest_channel_id is None:
        await _send_join_message(ctx, state, user.id)
    if not user.bot:
        await restrict_new_guild(ctx, user.id, state.id)
    await MEMBER_JOINED(ctx, state, user.id)
    return row


def requires_screening(state: GuildState, user: UserRow) -> bool:
    """Whether a user who joins a guild starts as pending."""
    gate = Feature.MEMBER_VERIFICATION_GATE_ENABLED in state.row.features
    return gate and not user.bot and user.id != state.owner_id


async def admit_member(ctx: Context, state: GuildState, row: MemberRow) -> None:
    """Clear a member's `pending`, emit GUILD_MEMBER_UPDATE and post the join message. Rows declare `ADMIT_EVENTS`."""
    after = structs.replace(row, pending=False)
    await queries.update_member(ctx.tx, state.id, row.user_id, pending=False)
    ctx.emit(GuildMemberUpdate(guild_id=state.id, member=await queries.member_object(ctx.tx, after)))
    await _send_join_message(ctx, state, row.user_id)


async def admit_members(ctx: Context, guild_id: GuildId, rows: Sequence[MemberRow]) -> None:
    """Clear `pending` of several members and emit GUILD_MEMBER_UPDATE for each, without join messages."""
    await queries.clear_pending(ctx.tx, guild_id, [row.user_id for row in rows])
    for member in await queries.member_objects(ctx.tx, [structs.replace(row, pending=False) for row in rows]):
        ctx.emit(GuildMemberUpdate(guild_id=guild_id, member=member))


async def _send_join_message(ctx: Context, state: GuildState, user_id: UserId) -> None:
    """Post a USER_JOIN message in the guild's system channel, unless there is none or the guild suppresses it."""
    channel_id = state.row.system_channel_id
    if channel_id is None or state.row.system_channel_flags & SystemChannelFlags.SUPPRESS_JOIN_NOTIFICATIONS:
        return
    channel = await state.channel(ctx.tx, channel_id)
    if channel is not None:
        access = ChannelAccess(channel=channel, permissions=0, guild=state)
        await send_system_message(ctx, access, user_id, MessageType.USER_JOIN)
