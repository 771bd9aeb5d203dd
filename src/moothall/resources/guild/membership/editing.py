"""What changes about members while they are in the guild: names, roles, timeouts, voice, flags (api.md, Members).

Authority comes first (403), then what is wrong with the request (400); nothing is written before
every field has been judged.
"""

from collections.abc import Iterable
from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType, structs

from moothall.kernel.audit import differences
from moothall.kernel.context import Context
from moothall.kernel.guild_state import MemberAuthority
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogChange, AuditLogEvent, AuditLogOptions
from moothall.objects.channel import Channel
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ChannelId, GuildId, RoleId, Snowflake, UserId
from moothall.objects.images import ImageData
from moothall.objects.member import Member, MemberFlags
from moothall.objects.permissions import Permissions
from moothall.objects.role import Role
from moothall.objects.text import clean, clean_name, search_key
from moothall.objects.wire import Timestamp
from moothall.resources.guild.membership.guests import as_full_member
from moothall.resources.guild.membership.operations import remove_member
from moothall.resources.member import queries
from moothall.resources.member.events import GuildMemberUpdate
from moothall.resources.voice.operations import voice_state as voice
from moothall.resources.voice.queries import VoiceStateRow, get_voice_state
from moothall.storage.rows import MemberRow

_FLAGS_BY: Final = (
    Permissions.MANAGE_GUILD,
    Permissions.MANAGE_ROLES,
    Permissions.MODERATE_MEMBERS | Permissions.KICK_MEMBERS | Permissions.BAN_MEMBERS,
)
"""Each of these alone lets one change flags."""

_UPDATE_KEYS: Final = ("nick", "mute", "deaf", "communication_disabled_until", "flags", "avatar", "banner", "bio")
_AUDIT_NAMES: Final = {"avatar": "avatar_hash", "banner": "banner_hash"}


class MemberChanges(Struct, frozen=True, kw_only=True):
    """What a request wants to be different about a member; null clears."""

    nick: str | UnsetType | None = UNSET
    roles: list[RoleId] | UnsetType | None = UNSET
    mute: bool | UnsetType | None = UNSET
    deaf: bool | UnsetType | None = UNSET
    channel_id: ChannelId | UnsetType | None = UNSET
    communication_disabled_until: Timestamp | UnsetType | None = UNSET
    flags: int | UnsetType | None = UNSET


async def modify_member(ctx: Context, guild_id: GuildId, user_id: UserId, wanted: MemberChanges) -> Member:
    """Change a member, each field with its own permission; the member as they are then.

    What is as it was before is not written, recorded or announced. Raises Refusal: 404/10007,
    403/50013, 400/40032 for voice fields of someone not in voice, 400/50035.
    """
    row = await queries.get_member(ctx.tx, guild_id, user_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_MEMBER)
    state = None
    if not (wanted.mute is UNSET and wanted.deaf is UNSET and wanted.channel_id is UNSET):
        state = await get_voice_state(ctx.tx, guild_id, user_id)
    await _check_authority(ctx, row, wanted, state)
    form_errors = FormErrors()
    roles = _roles_wanted(ctx, row, wanted, form_errors)
    target = await _target_channel(ctx, wanted, form_errors)
    if target is not None and row.guest_channel_id not in {None, target.id}:
        form_errors.add(
            "channel_id", FormCode.BASE_TYPE_CHOICES, "A guest stays in the channel that they were invited to."
        )
    values = _values_wanted(ctx, row, wanted, form_errors)
    if roles is not None:
        values["roles"] = roles
    form_errors.raise_if_any()
    if state is None and not (wanted.mute is UNSET and wanted.deaf is UNSET and wanted.channel_id is UNSET):
        raise Refusal(errors.NOT_IN_VOICE)
    after = structs.replace(row, **values)
    if after.roles != row.roles and after.roles:
        after = as_full_member(after)
    moved = wanted.channel_id is not UNSET and (target is None or state is None or target.id != state.channel_id)
    await _store(ctx, row, after)
    member = await queries.member_object(ctx.tx, after)
    if moved or after != row:
        ctx.emit(GuildMemberUpdate(guild_id=guild_id, member=member))
    if state is not None:
        await _change_voice(ctx, state, target, row, member, moved=moved)
        if moved and target is None and after.guest_channel_id is not None and member.user is not UNSET:
            await remove_member(ctx, guild_id, member.user)
    return member


async def modify_self(
    ctx: Context,
    guild_id: GuildId,
    *,
    nick: str | UnsetType | None = UNSET,
    avatar: ImageData | UnsetType | None = UNSET,
    banner: ImageData | UnsetType | None = UNSET,
    bio: str | UnsetType | None = UNSET,
) -> Member:
    """Change how the actor appears in the guild; the member as they are then.

    Raises Refusal: 403/50013 for a nickname without CHANGE_NICKNAME.
    """
    row = await queries.get_member(ctx.tx, guild_id, ctx.actor.user_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_MEMBER)
    if nick is not UNSET:
        ctx.require(Permissions.CHANGE_NICKNAME)
    values: dict[str, Any] = {}
    if nick is not UNSET:
        values.update(_nick_values(nick))
    if avatar is not UNSET:
        values["avatar"] = None if avatar is None else avatar.hash
    if banner is not UNSET:
        values["banner"] = None if banner is None else banner.hash
    if bio is not UNSET:
        values["bio"] = clean(bio or "").strip() or None
    after = structs.replace(row, **values)
    await _store(ctx, row, after)
    member = await queries.member_object(ctx.tx, after)
    if after != row:
        ctx.emit(GuildMemberUpdate(guild_id=guild_id, member=member))
    return member


async def change_role(ctx: Context, guild_id: GuildId, user_id: UserId, role_id: RoleId, *, give: bool) -> None:
    """Give a member one role or take it away; nothing happens if it is so already.

    Raises Refusal: 404/10011, 404/10007, 400/50028 for @everyone, 403/50013 for a managed role or
    one that does not stand below the actor's highest.
    """
    role = ctx.guild.roles.get(role_id)
    if role is None:
        raise Refusal(errors.UNKNOWN_ROLE)
    row = await queries.get_member(ctx.tx, guild_id, user_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_MEMBER)
    if role_id == ctx.guild.everyone.id:
        raise Refusal(errors.INVALID_ROLE)
    check_assignable(ctx.member, [role])
    held = role_id in row.roles
    if held == give:
        return
    # Of roles that are being deleted none is written again.
    others = [r for r in row.roles if r != role_id and r in ctx.guild.roles]
    roles = [*others, Snowflake(role_id)] if give else others
    after = structs.replace(row, roles=roles)
    if give:
        after = as_full_member(after)
    await _store(ctx, row, after)
    ctx.emit(GuildMemberUpdate(guild_id=guild_id, member=await queries.member_object(ctx.tx, after)))


def check_assignable(authority: MemberAuthority, roles: Iterable[Role]) -> None:
    """Refuse (403/50013) unless each role may be given or taken by hand: not managed, and below one's own highest."""
    for role in roles:
        if role.managed or not authority.outranks_role(role):
            raise Refusal(errors.MISSING_PERMISSIONS)


async def _check_authority(ctx: Context, row: MemberRow, wanted: MemberChanges, state: VoiceStateRow | None) -> None:
    """The permission of each field given, and the hierarchy where the field stands under it."""
    if wanted.nick is not UNSET:
        ctx.require(Permissions.MANAGE_NICKNAMES)
        if row.user_id != ctx.actor.user_id:
            _require_rank(ctx, row)
    if wanted.roles is not UNSET:
        ctx.require(Permissions.MANAGE_ROLES)
    if wanted.communication_disabled_until is not UNSET:
        ctx.require(Permissions.MODERATE_MEMBERS)
        _require_rank(ctx, row)
        if (
            wanted.communication_disabled_until is not None
            and ctx.guild.base_of(row.user_id, row.roles) & Permissions.ADMINISTRATOR
        ):
            raise Refusal(errors.MISSING_PERMISSIONS)
    if wanted.flags is not UNSET:
        ctx.require(next((bits for bits in _FLAGS_BY if ctx.has(bits)), _FLAGS_BY[0]))
    channel = None if state is None else await ctx.guild.channel(ctx.tx, state.channel_id)
    for value, bit in (
        (wanted.mute, Permissions.MUTE_MEMBERS),
        (wanted.deaf, Permissions.DEAFEN_MEMBERS),
        (wanted.channel_id, Permissions.MOVE_MEMBERS),
    ):
        if value is not UNSET:
            held = ctx.member.permissions if channel is None else ctx.member.permissions_in(channel)
            if not held & bit:
                raise Refusal(errors.MISSING_PERMISSIONS)


def _require_rank(ctx: Context, row: MemberRow) -> None:
    if not ctx.member.outranks(row.user_id, row.roles):
        raise Refusal(errors.MISSING_PERMISSIONS)


def _roles_wanted(
    ctx: Context, row: MemberRow, wanted: MemberChanges, form_errors: FormErrors
) -> list[Snowflake] | None:
    """The role list to store; None where it is not to change. Every role that comes or goes must be assignable."""
    if wanted.roles is UNSET:
        return None
    # Client libraries send @everyone along with a member's roles; everybody has it.
    listed = [r for r in dict.fromkeys(wanted.roles or ()) if r != ctx.guild.everyone.id]
    known = ctx.guild.roles
    before = {r for r in row.roles if r in known}
    check_assignable(ctx.member, [known[RoleId(r)] for r in before.symmetric_difference(listed) if r in known])
    for index, role_id in enumerate(wanted.roles or ()):
        if role_id not in known:
            form_errors.add(["roles", index], FormCode.BASE_TYPE_CHOICES, f"Role {int(role_id)} is not in this guild.")
    if set(listed) == before:
        return list(row.roles)
    return [Snowflake(r) for r in listed]


async def _target_channel(ctx: Context, wanted: MemberChanges, form_errors: FormErrors) -> Channel | None:
    """The voice channel to move to. The mover needs CONNECT there."""
    if not isinstance(wanted.channel_id, int):
        return None
    channel = await voice.find_voice_channel(ctx, wanted.channel_id)
    if channel is None:
        form_errors.add("channel_id", FormCode.BASE_TYPE_CHOICES, "This is no voice channel of the guild.")
        return None
    # In a voice channel CONNECT is only ever left with VIEW_CHANNEL.
    if not ctx.member.permissions_in(channel) & Permissions.CONNECT:
        raise Refusal(errors.MISSING_PERMISSIONS)
    return channel


def _values_wanted(ctx: Context, row: MemberRow, wanted: MemberChanges, form_errors: FormErrors) -> dict[str, Any]:
    """The columns of the plain fields."""
    values: dict[str, Any] = {}
    if wanted.nick is not UNSET:
        values.update(_nick_values(wanted.nick))
    if wanted.mute is not UNSET:
        values["mute"] = bool(wanted.mute)
    if wanted.deaf is not UNSET:
        values["deaf"] = bool(wanted.deaf)
    if wanted.flags is not UNSET:
        values["flags"] = row.flags & ~MemberFlags.EDITABLE | (wanted.flags or 0) & MemberFlags.EDITABLE
    until = wanted.communication_disabled_until
    if until is not UNSET:
        if until is not None and until > ctx.now + limits.TIMEOUT_MAX * 1000:
            days = limits.TIMEOUT_MAX // 86_400
            form_errors.add(
                "communication_disabled_until",
                FormCode.BASE_TYPE_BAD_TYPE,
                f"A timeout ends at most {days} days from now.",
            )
        # A moment that has passed is as good as none.
        values["communication_disabled_until"] = until if until is not None and until > ctx.now else None
    return values


def _nick_values(nick: str | None) -> dict[str, Any]:
    """The columns of a nickname; nothing but blanks is no nickname. What usernames may not hold, it may."""
    name = clean_name(nick or "") or None
    return {"nick": name, "nick_key": None if name is None else search_key(name)}


async def _store(ctx: Context, before: MemberRow, after: MemberRow) -> None:
    """Write the columns that differ, and the audit entries for them."""
    if after.roles != before.roles and after.roles:
        # Who came for a visit stays once they are given a role.
        after = structs.replace(after, temporary=False)
    names = [name for name in before.__struct_fields__ if getattr(before, name) != getattr(after, name)]
    if not names:
        return
    await queries.change_member(
        ctx.tx, before.guild_id, before.user_id, **{name: getattr(after, name) for name in names}
    )
    changes = [
        structs.replace(change, key=_AUDIT_NAMES.get(change.key, change.key))
        for change in differences(before, after, _UPDATE_KEYS)
    ]
    if changes:
        await ctx.audit(AuditLogEvent.MEMBER_UPDATE, target=before.user_id, changes=changes)
    if "roles" in names:
        await ctx.audit(
            AuditLogEvent.MEMBER_ROLE_UPDATE,
            target=before.user_id,
            changes=role_changes(ctx, before.roles, after.roles),
        )


def role_changes(ctx: Context, before: Iterable[Snowflake], after: Iterable[Snowflake]) -> list[AuditLogChange]:
    """The roles given and taken, as the audit log has them: partial roles under `$add` and `$remove`."""
    old, new = list(before), list(after)
    changes = []
    for key, ids in (("$add", [r for r in new if r not in old]), ("$remove", [r for r in old if r not in new])):
        if ids:
            roles = [ctx.guild.roles[RoleId(r)] for r in ids if r in ctx.guild.roles]
            changes.append(AuditLogChange(key=key, new_value=[{"id": r.id.wire(), "name": r.name} for r in roles]))
    return changes


async def _change_voice(
    ctx: Context, state: VoiceStateRow, target: Channel | None, before: MemberRow, member: Member, *, moved: bool
) -> None:
    """Move, disconnect or announce the new mute and deafness of someone in voice."""
    if moved and target is None:
        await voice.disconnect_member(ctx, state, member)
        await ctx.audit(AuditLogEvent.MEMBER_DISCONNECT, options=AuditLogOptions(count="1"))
    elif moved and target is not None:
        theirs = ctx.services.states.judge(
            ctx.guild,
            state.user_id,
            member.roles,
            pending=before.pending,
            until=member.communication_disabled_until,
            now=ctx.now,
            guest_of=before.guest_channel_id,
        )
        await voice.move_member(ctx, state, target, member, theirs.permissions_in(target))
        options = AuditLogOptions(count="1", channel_id=Snowflake(target.id))
        await ctx.audit(AuditLogEvent.MEMBER_MOVE, options=options)
    elif (before.mute, before.deaf) != (member.mute, member.deaf):
        await voice.announce_voice_state(ctx, state, state, member)
