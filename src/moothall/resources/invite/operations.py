"""Making invites, using them and deleting them."""

import secrets
import string
from typing import Any, Final

from msgspec import UNSET

from moothall.kernel.audit import differences
from moothall.kernel.context import Context
from moothall.kernel.guild_state import GuildState
from moothall.objects import errors, limits
from moothall.objects.application import ApplicationFlags
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.channel import Channel
from moothall.objects.channel_types import INVITABLE, VOICE, ChannelType
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.features import Feature
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.guild import IncidentsData
from moothall.objects.ids import ChannelId, GuildId, RoleId, ScheduledEventId, Snowflake
from moothall.objects.invite import Invite, InviteFlags, InviteMetadata, InviteTargetType, InviteType
from moothall.objects.permissions import Permissions, channel_permissions
from moothall.objects.wire import convert
from moothall.resources.guild.membership.guests import make_full_member
from moothall.resources.guild.membership.operations import join_guild
from moothall.resources.invite import queries
from moothall.resources.invite.events import InviteCreate, InviteDelete
from moothall.resources.invite.groups import (
    accept_group_invite,
    blank_group_invite,
    group_invite,
    shown_group_invite,
)
from moothall.resources.invite.objects import invite_objects, vanity_invite, without_metadata
from moothall.resources.invite.queries import InviteRow
from moothall.resources.invite.requests import CreateChannelInvite
from moothall.resources.invite.stages_and_events import with_stages_and_events
from moothall.resources.member.queries import get_member, is_banned
from moothall.resources.user.queries import select_user
from moothall.resources.voice.queries import get_voice_state

_AUDITED: Final = ("code", "channel_id", "inviter_id", "max_uses", "uses", "max_age", "temporary", "flags")
_SETTINGS: Final = (
    "max_age", "max_uses", "temporary", "target_type", "target_user_id", "target_application_id", "flags", "role_ids",
)  # fmt: skip
_LETTERS: Final = string.ascii_letters + string.digits
_CODE_LENGTH: Final = 10
"""Almost 60 random bits: nobody finds a code by trying."""


async def create_invite(ctx: Context, body: CreateChannelInvite) -> InviteMetadata:
    """Make an invite to the channel entered.

    Unless it is to be `unique`, the caller's live invite with the same settings is given again, which
    is neither recorded nor announced. Raises Refusal: 400/50024 for a channel that nobody can be invited
    to, 400/30016 for a guild with too many invites, 400/50035.
    """
    channel = ctx.channel.channel
    if channel.type == ChannelType.GROUP_DM:
        return await _invite_to_group(ctx, body)
    if channel.type not in INVITABLE:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    row = await _row(ctx, channel, body)
    if not body.unique and (same := await _same_invite(ctx, row)) is not None:
        return same
    await queries.delete_expired(ctx.tx, ctx.guild.id, ctx.now)
    if await queries.count_guild_invites(ctx.tx, ctx.guild.id, ctx.now) >= limits.GUILD_INVITES_MAX:
        raise Refusal(errors.TOO_MANY_INVITES)
    invite = await store_invite(ctx, ctx.guild, row)
    await ctx.audit(AuditLogEvent.INVITE_CREATE, changes=differences(None, row, _AUDITED))
    return invite


async def _invite_to_group(ctx: Context, body: CreateChannelInvite) -> InviteMetadata:
    """Only those in a group hear of its invites, by their answers: neither recorded nor announced."""
    row = blank_group_invite(ctx, body.max_age)
    own = await queries.select_own_invites(ctx.tx, row.channel_id, ctx.actor.user_id, ctx.now)
    same = next((known for known in own if known.max_age == row.max_age), None)
    if same is not None and not body.unique:
        return await group_invite(ctx, same)
    if len(own) >= limits.GROUP_INVITES_PER_USER:
        raise Refusal(errors.TOO_MANY_INVITES)
    await _insert(ctx, row)
    return await group_invite(ctx, row)


async def store_invite(ctx: Context, guild: GuildState, row: InviteRow) -> InviteMetadata:
    """Store a new invite under a fresh code and announce it; whether it is recorded is the caller's to decide."""
    await _insert(ctx, row)
    invite = (await invite_objects(ctx, guild, [row]))[0]
    ctx.emit(
        InviteCreate(
            type=row.type,
            channel_id=row.channel_id,
            guild_id=guild.id,
            code=row.code,
            created_at=row.created_at,
            inviter=invite.inviter,
            max_age=row.max_age,
            max_uses=row.max_uses,
            target_type=invite.target_type,
            target_user=invite.target_user,
            target_application=invite.target_application,
            temporary=row.temporary,
            expires_at=row.expires_at,
            flags=row.flags,
            role_ids=[RoleId(role_id) for role_id in row.role_ids] or UNSET,
        )
    )
    return invite


async def _insert(ctx: Context, row: InviteRow) -> None:
    row.code = new_code()
    while await queries.select_vanity_guild(ctx.tx, row.code) or not await queries.insert_invite(ctx.tx, row):
        row.code = new_code()


def new_code() -> str:
    """A code that cannot be guessed."""
    return "".join(secrets.choice(_LETTERS) for _ in range(_CODE_LENGTH))


async def resolve_invite(
    ctx: Context, code: str, *, with_counts: bool = False, event_id: ScheduledEventId | None = None
) -> Invite:
    """What a code leads to, as anyone may see it, with an event of the guild. Raises Refusal: 404/10006."""
    group = await _find_group(ctx, code)
    if group is not None:
        return await shown_group_invite(ctx, group, with_counts=with_counts)
    row, guild = await _find(ctx, code)
    invite = await _shown(ctx, row, guild, with_counts=with_counts)
    return await with_stages_and_events(ctx, invite, guild, event_id)


async def accept_invite(ctx: Context, code: str) -> Invite:
    """Come into a guild by an invite and count its use; the last use deletes it.

    Someone who is in already stays as they are and spends nothing, but a guest is one no more. Raises
    Refusal: 403/20001 for bots; 404/10006 for no such invite, or none any more; 403/40007 for those banned;
    403/40006 while invites are paused, and for guests of a guild that has none any more; what `join_guild` raises.
    """
    if ctx.actor.bot:
        raise Refusal(errors.BOTS_CANNOT_USE)
    group = await _find_group(ctx, code)
    if group is not None:
        return await accept_group_invite(ctx, group)
    row, guild = await _find(ctx, code)
    invite = await _shown(ctx, row, guild)
    user_id = ctx.actor.user_id
    is_guest_invite = row is not None and bool(row.flags & InviteFlags.IS_GUEST_INVITE)
    member = await get_member(ctx.tx, guild.id, user_id)
    user = await select_user(ctx.tx, user_id)
    if user is None:
        raise Refusal(errors.UNKNOWN_USER)
    if member is not None:
        if not is_guest_invite and not are_paused(ctx, guild):
            await make_full_member(ctx, guild, member, user)
        return invite
    await _check_open(ctx, guild, is_guest=is_guest_invite)
    if row is None:
        await queries.spend_vanity(ctx.tx, guild.id)
    elif not await queries.spend_invite(ctx.tx, row.code, ctx.now):
        raise Refusal(errors.UNKNOWN_INVITE)
    if row is None:
        await join_guild(ctx, guild, user)
        return invite
    given = [RoleId(role_id) for role_id in row.role_ids if RoleId(role_id) in guild.roles]
    guest_of = row.channel_id if is_guest_invite else None
    await join_guild(ctx, guild, user, temporary=row.temporary, roles=given, guest_of=guest_of)
    if await queries.delete_spent(ctx.tx, row.code):
        ctx.emit(InviteDelete(channel_id=row.channel_id, guild_id=guild.id, code=row.code))
    return invite


async def _check_open(ctx: Context, guild: GuildState, *, is_guest: bool) -> None:
    if await is_banned(ctx.tx, guild.id, ctx.actor.user_id):
        raise Refusal(errors.USER_BANNED)
    if are_paused(ctx, guild):
        raise Refusal(errors.FEATURE_DISABLED, message="Invites to this guild are paused.")
    if is_guest and Feature.GUESTS_ENABLED not in guild.row.features:
        raise Refusal(errors.FEATURE_DISABLED, message="This guild has no guests any more.")


async def delete_invite(ctx: Context, code: str) -> Invite:
    """Delete an invite to the guild or group entered. Raises Refusal: 404/10006."""
    row = await queries.select_invite(ctx.tx, code, ctx.now)
    if row is None:
        raise Refusal(errors.UNKNOWN_INVITE)
    if row.type == InviteType.GROUP_DM:
        shown = await shown_group_invite(ctx, row)
        await queries.delete_invite(ctx.tx, code)
        return shown
    invite = await _shown(ctx, row, ctx.guild)
    if not await queries.delete_invite(ctx.tx, code):
        raise Refusal(errors.UNKNOWN_INVITE)
    await ctx.audit(AuditLogEvent.INVITE_DELETE, changes=differences(row, None, _AUDITED))
    ctx.emit(InviteDelete(channel_id=row.channel_id, guild_id=ctx.guild.id, code=code))
    return invite


async def _row(ctx: Context, channel: Channel, body: CreateChannelInvite) -> InviteRow:
    form_errors = FormErrors()
    target_type = int(body.target_type or 0)
    await _check_target(ctx, channel, body, target_type, form_errors)
    role_ids = _roles(ctx, body, form_errors)
    flags = (body.flags or 0) & InviteFlags.IS_GUEST_INVITE
    if flags:
        _check_guests(ctx, channel, role_ids, form_errors)
    form_errors.raise_if_any()
    max_age = body.max_age if isinstance(body.max_age, int) else limits.INVITE_MAX_AGE_DEFAULT
    is_stream = target_type == InviteTargetType.STREAM
    is_application = target_type == InviteTargetType.EMBEDDED_APPLICATION
    return InviteRow(
        code="",
        guild_id=ctx.guild.id,
        channel_id=channel.id,
        inviter_id=ctx.actor.user_id,
        type=InviteType.GUILD,
        target_type=target_type or None,
        target_user_id=(body.target_user_id or None) if is_stream else None,
        target_application_id=(body.target_application_id or None) if is_application else None,
        max_age=max_age,
        max_uses=body.max_uses or 0,
        uses=0,
        temporary=bool(body.temporary),
        created_at=ctx.now,
        expires_at=type(ctx.now)(ctx.now + 1000 * max_age) if max_age else None,
        flags=flags,
        role_ids=role_ids,
    )


def _check_guests(ctx: Context, channel: Channel, role_ids: list[Snowflake], form_errors: FormErrors) -> None:
    """Guests come to a voice channel, in a guild that has guests, and get no role: that would make them members."""
    if Feature.GUESTS_ENABLED not in ctx.guild.row.features:
        form_errors.add("flags", FormCode.BASE_TYPE_CHOICES, "This guild has no guests.")
    elif channel.type != ChannelType.GUILD_VOICE:
        form_errors.add("flags", FormCode.BASE_TYPE_CHOICES, "Guests can be invited to voice channels only.")
    elif role_ids:
        form_errors.add("role_ids", FormCode.BASE_TYPE_CHOICES, "Guests are given no roles.")


def _roles(ctx: Context, body: CreateChannelInvite, form_errors: FormErrors) -> list[Snowflake]:
    """The roles that the invite is to give: such as the caller could give by hand."""
    asked = list(dict.fromkeys(body.role_ids or ()))
    roles = [ctx.guild.roles.get(role_id) for role_id in asked]
    if asked and not ctx.member.permissions & Permissions.MANAGE_ROLES:
        raise Refusal(errors.MISSING_PERMISSIONS)
    if any(role is not None and not ctx.member.outranks_role(role) for role in roles):
        raise Refusal(errors.MISSING_PERMISSIONS)
    for index, role in enumerate(roles):
        if role is None or role.managed or role.id == ctx.guild.everyone.id:
            form_errors.add(("role_ids", index), FormCode.BASE_TYPE_CHOICES, "No role that can be given.")
    return [Snowflake(role_id) for role_id in asked]


async def _check_target(
    ctx: Context, channel: Channel, body: CreateChannelInvite, target_type: int, form_errors: FormErrors
) -> None:
    """A stream is somebody's who streams in the channel now; an activity is one that can be embedded."""
    if not target_type:
        for given in (body.target_user_id, body.target_application_id):
            if given:
                form_errors.add("target_type", *FieldError.required())
        return
    if channel.type not in VOICE:
        form_errors.add("target_type", FormCode.BASE_TYPE_CHOICES, "Only invites to voice channels have a target.")
    if target_type == InviteTargetType.STREAM:
        if not body.target_user_id:
            form_errors.add("target_user_id", *FieldError.required())
            return
        state = await get_voice_state(ctx.tx, ctx.guild.id, body.target_user_id)
        if state is None or state.channel_id != channel.id or not state.self_stream:
            form_errors.add("target_user_id", FormCode.BASE_TYPE_CHOICES, "The user does not stream in the channel.")
    elif not body.target_application_id:
        form_errors.add("target_application_id", *FieldError.required())
    else:
        known = await queries.get_applications(ctx.tx, [body.target_application_id])
        application = known.get(body.target_application_id)
        if application is None or not application.flags & ApplicationFlags.EMBEDDED:
            form_errors.add("target_application_id", FormCode.BASE_TYPE_CHOICES, "Not an application to embed.")


async def _same_invite(ctx: Context, wanted: InviteRow) -> InviteMetadata | None:
    for row in await queries.select_own_invites(ctx.tx, wanted.channel_id, ctx.actor.user_id, ctx.now):
        if all(getattr(row, name) == getattr(wanted, name) for name in _SETTINGS):
            return (await invite_objects(ctx, ctx.guild, [row]))[0]
    return None


async def _find_group(ctx: Context, code: str) -> InviteRow | None:
    """The live invite to a group that a code is; None for all others."""
    row = await queries.select_invite(ctx.tx, code, ctx.now)
    return row if row is not None and row.type == InviteType.GROUP_DM else None


async def _find(ctx: Context, code: str) -> tuple[InviteRow | None, GuildState]:
    row = await queries.select_invite(ctx.tx, code, ctx.now)
    guild_id: GuildId | None = await queries.select_vanity_guild(ctx.tx, code) if row is None else row.guild_id
    guild = None if guild_id is None else await ctx.services.states.state(ctx.tx, guild_id, writes=ctx.writes)
    if guild is None:
        raise Refusal(errors.UNKNOWN_INVITE)
    return row, guild


async def _shown(ctx: Context, row: InviteRow | None, guild: GuildState, *, with_counts: bool = False) -> Invite:
    """What `_find` found as those see it who hold the code."""
    counts: dict[str, Any] = {}
    if with_counts:
        counts["members"] = await queries.count_members(ctx.tx, guild.id)
        counts["presences"] = ctx.services.presences.online_count(guild.id)
    if row is None:
        return vanity_invite(guild, await _front_door(ctx, guild), **counts)
    found = await invite_objects(ctx, guild, [row])
    if not found:
        raise Refusal(errors.UNKNOWN_INVITE)
    return without_metadata(found[0], **counts)


async def _front_door(ctx: Context, guild: GuildState) -> Channel | None:
    """The channel that a vanity code shows: the first that everyone may see."""
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


def are_paused(ctx: Context, guild: GuildState) -> bool:
    """Whether nobody can join a guild by an invite now: by its own choice, or for its protection."""
    if Feature.INVITES_DISABLED in guild.row.features:
        return True
    if guild.row.incidents_data is None:
        return False
    until = convert(guild.row.incidents_data, IncidentsData).invites_disabled_until
    return until is not None and until > ctx.now


async def widget_invite(ctx: Context, channel_id: ChannelId) -> str | None:
    """The code of the unlimited invite to a channel that a widget shows, made where there is none.

    None while invites are paused. The row declares InviteCreate.
    """
    guild = ctx.guild
    if are_paused(ctx, guild):
        return None
    code = await queries.select_widget_invite(ctx.tx, guild.id, channel_id)
    if code is not None:
        return code
    ctx.need_to_write()
    row = InviteRow(
        code="",
        guild_id=guild.id,
        channel_id=channel_id,
        inviter_id=None,
        type=InviteType.GUILD,
        target_type=None,
        target_user_id=None,
        target_application_id=None,
        max_age=0,
        max_uses=0,
        uses=0,
        temporary=False,
        created_at=ctx.now,
        expires_at=None,
        flags=0,
        role_ids=[],
    )
    return (await store_invite(ctx, guild, row)).code


async def delete_invites_of_channel(ctx: Context, channel: Channel) -> None:
    """Delete the invites to a channel of the guild entered. Rows that call this declare InviteDelete."""
    invites = await queries.select_channel_invites(ctx.tx, channel.id, ctx.now)
    await queries.delete_channel_invites(ctx.tx, channel.id)
    for invite in invites:
        ctx.emit(InviteDelete(channel_id=channel.id, guild_id=ctx.guild.id, code=invite.code))
