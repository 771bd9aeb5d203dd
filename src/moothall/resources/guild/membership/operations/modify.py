"""Modifying members: nickname, roles, timeout, voice and flags (api.md, Members).

Permissions are checked first (403), then the fields (400). Nothing is written before every field has been checked.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import UNSET, UnsetType, structs

from moothall.api.audit import differences
from moothall.api.context import Context
from moothall.api.hooks import Hook
from moothall.authority.guild_state import GuildState
from moothall.authority.member_authority import MemberAuthority, build_authority
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogChange, AuditLogEvent, AuditLogOptions
from moothall.objects.channel import Channel
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import GuildId, RoleId, Snowflake, UserId
from moothall.objects.images import ImageData
from moothall.objects.json_object import JsonObject
from moothall.objects.member import Member, MemberFlags
from moothall.objects.permissions import Permissions
from moothall.objects.role import Role, is_linked
from moothall.objects.text import clean, clean_name, search_key
from moothall.resources.guild.membership.operations.guests import as_full_member
from moothall.resources.guild.membership.operations.leave import remove_member
from moothall.resources.guild.membership.requests import ModifyGuildMember
from moothall.resources.member import queries
from moothall.resources.member.events import GuildMemberUpdate
from moothall.resources.voice.operations import voice_state as voice
from moothall.resources.voice.queries import VoiceStateRow, get_voice_state
from moothall.storage.rows import MemberRow

NICKNAME_CHANGING: Final = Hook[[Context, str], None]("nickname changing")
"""Called before the actor's own nickname is set; a handler may refuse it."""
NICKNAME_CHANGED: Final = Hook[[Context, GuildState, UserId], None]("nickname changed")
"""Called after a member's nickname was changed, in the same transaction."""

_FLAG_PERMISSIONS: Final = (
    Permissions.MANAGE_GUILD,
    Permissions.MANAGE_ROLES,
    Permissions.MODERATE_MEMBERS | Permissions.KICK_MEMBERS | Permissions.BAN_MEMBERS,
)
"""Changing flags requires one of these."""

_AUDITED: Final = ("nick", "mute", "deaf", "communication_disabled_until", "flags", "avatar", "banner", "bio")
_AUDIT_KEYS: Final = {"avatar": "avatar_hash", "banner": "banner_hash"}


async def modify_member(ctx: Context, guild_id: GuildId, user_id: UserId, body: ModifyGuildMember) -> Member:
    """Change a member, where each field has its own permission; returns the changed member.

    Fields with their present value are not written, recorded or announced. Raises Refusal: 404/10007, 403/50013,
    400/40032 for voice fields of a member who is not in voice, 400/50035.
    """
    row = await queries.get_member(ctx.tx, guild_id, user_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_MEMBER)
    state = None
    if body.changes_voice:
        state = await get_voice_state(ctx.tx, guild_id, user_id)
    await _check_permissions(ctx, row, body, state)
    form_errors = FormErrors()
    roles = _new_roles(ctx, row, body, form_errors)
    target = await _target_channel(ctx, body, form_errors)
    if target is not None and row.guest_channel_id not in {None, target.id}:
        form_errors.add(
            "channel_id", FormCode.BASE_TYPE_CHOICES, "A guest cannot be moved out of the channel of their invite."
        )
    values = _new_values(ctx, row, body, form_errors)
    if roles is not None:
        values["roles"] = roles
    form_errors.raise_if_any()
    if state is None and body.changes_voice:
        raise Refusal(errors.NOT_IN_VOICE)
    after = structs.replace(row, **values)
    if after.roles != row.roles and after.roles:
        after = as_full_member(after)
    moved = body.channel_id is not UNSET and (target is None or state is None or target.id != state.channel_id)
    await _store(ctx, row, after)
    member = await queries.member_object(ctx.tx, after)
    if moved or after != row:
        ctx.emit(GuildMemberUpdate(guild_id=guild_id, member=member))
    if state is not None:
        await _change_voice(ctx, state, target, row, member, moved=moved)
        if moved and target is None and after.guest_channel_id is not None and member.user is not UNSET:
            await remove_member(ctx, guild_id, member.user)
    return member


async def modify_current_member(
    ctx: Context,
    guild_id: GuildId,
    *,
    nick: str | UnsetType | None = UNSET,
    avatar: ImageData | UnsetType | None = UNSET,
    banner: ImageData | UnsetType | None = UNSET,
    bio: str | UnsetType | None = UNSET,
) -> Member:
    """Change the actor's own member profile; returns the changed member.

    Raises Refusal: 404/10007, 403/50013 for a nickname without CHANGE_NICKNAME.
    """
    row = await queries.get_member(ctx.tx, guild_id, ctx.actor.user_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_MEMBER)
    if nick is not UNSET:
        _require_nickname_change(ctx)
    values: dict[str, object] = {}
    if nick is not UNSET:
        values.update(_nick_values(nick))
    if avatar is not UNSET:
        values["avatar"] = None if avatar is None else avatar.hash
    if banner is not UNSET:
        values["banner"] = None if banner is None else banner.hash
    if bio is not UNSET:
        values["bio"] = clean(bio or "").strip() or None
    after = structs.replace(row, **values)
    if after.nick is not None and after.nick != row.nick:
        await NICKNAME_CHANGING(ctx, after.nick)
    await _store(ctx, row, after)
    member = await queries.member_object(ctx.tx, after)
    if after != row:
        ctx.emit(GuildMemberUpdate(guild_id=guild_id, member=member))
    return member


def _require_nickname_change(ctx: Context) -> None:
    """Refuse (403/50013) without CHANGE_NICKNAME, which a member who is quarantined for a name keeps."""
    member = ctx.member
    if not (member.quarantined and ctx.guild.base_of(member.user_id, member.role_ids) & Permissions.CHANGE_NICKNAME):
        ctx.require(Permissions.CHANGE_NICKNAME)


async def change_member_role(ctx: Context, guild_id: GuildId, user_id: UserId, role_id: RoleId, *, add: bool) -> None:
    """Add one role to a member or remove it; does nothing if the member has or lacks it already.

    Raises Refusal: 404/10011, 404/10007, 400/50028 for @everyone, 403/50013 for a managed role or one that is not below
    the actor's highest.
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
    if add:
        check_not_linked([role])
    if (role_id in row.roles) == add:
        return
    # A deleted role may still be in the row until its job removes it: do not write it back.
    others = [r for r in row.roles if r != role_id and r in ctx.guild.roles]
    roles = [*others, Snowflake(role_id)] if add else others
    after = structs.replace(row, roles=roles)
    if add:
        after = as_full_member(after)
    await _store(ctx, row, after)
    ctx.emit(GuildMemberUpdate(guild_id=guild_id, member=await queries.member_object(ctx.tx, after)))


async def set_member_roles(ctx: Context, row: MemberRow, role_ids: Sequence[Snowflake]) -> None:
    """Let a member have these roles of the guild entered; without a difference nothing happens.

    For what acts without a member, as groups of an identity provider do: it checks no rank. The caller declares
    GuildMemberUpdate.
    """
    roles = [role_id for role_id in dict.fromkeys(role_ids) if role_id in ctx.guild.roles]
    if set(roles) == set(row.roles):
        return
    after = structs.replace(row, roles=[Snowflake(role_id) for role_id in roles])
    if set(roles) - set(row.roles):
        after = as_full_member(after)
    await _store(ctx, row, after)
    ctx.emit(GuildMemberUpdate(guild_id=row.guild_id, member=await queries.member_object(ctx.tx, after)))


async def add_role_to_members(
    ctx: Context, guild_id: GuildId, role_id: RoleId, user_ids: Sequence[UserId]
) -> list[Member]:
    """Add one role to several members, all or none; returns them. Nothing changes for those who have it.

    Raises Refusal as `change_member_role`.
    """
    role = ctx.guild.roles.get(role_id)
    if role is None:
        raise Refusal(errors.UNKNOWN_ROLE)
    rows = await queries.get_members(ctx.tx, guild_id, user_ids)
    if not rows.keys() >= set(user_ids):
        raise Refusal(errors.UNKNOWN_MEMBER)
    if role_id == ctx.guild.everyone.id:
        raise Refusal(errors.INVALID_ROLE)
    check_assignable(ctx.member, [role])
    check_not_linked([role])
    changed: dict[UserId, MemberRow] = {}
    for user_id, row in rows.items():
        if role_id in row.roles:
            continue
        # A deleted role may still be in the row until its job removes it: do not write it back.
        others = [each for each in row.roles if each in ctx.guild.roles]
        changed[user_id] = as_full_member(structs.replace(row, roles=[*others, Snowflake(role_id)]))
        await _store(ctx, row, changed[user_id])
    members = await queries.member_objects(ctx.tx, [changed.get(user_id, rows[user_id]) for user_id in sorted(rows)])
    for member in members:
        if member.user is not UNSET and member.user.id in changed:
            ctx.emit(GuildMemberUpdate(guild_id=guild_id, member=member))
    return members


def check_assignable(authority: MemberAuthority, roles: Iterable[Role]) -> None:
    """Refuse (403/50013) unless each role may be added and removed by hand: unmanaged, and below the highest role."""
    for role in roles:
        if role.managed or not authority.outranks_role(role):
            raise Refusal(errors.MISSING_PERMISSIONS)


def check_not_linked(roles: Iterable[Role]) -> None:
    """Refuse (403/50013) to add linked roles, which members claim themselves. Removing them by hand is allowed."""
    if any(is_linked(role) for role in roles):
        raise Refusal(errors.MISSING_PERMISSIONS)


async def _check_permissions(
    ctx: Context, row: MemberRow, body: ModifyGuildMember, state: VoiceStateRow | None
) -> None:
    """Refuse (403/50013) unless the actor has the permission for each present field, and the rank where it matters."""
    if body.nick is not UNSET:
        ctx.require(Permissions.MANAGE_NICKNAMES)
        if row.user_id != ctx.actor.user_id:
            _require_rank(ctx, row)
    if body.roles is not UNSET:
        ctx.require(Permissions.MANAGE_ROLES)
    if body.communication_disabled_until is not UNSET:
        ctx.require(Permissions.MODERATE_MEMBERS)
        _require_rank(ctx, row)
        if (
            body.communication_disabled_until is not None
            and ctx.guild.base_of(row.user_id, row.roles) & Permissions.ADMINISTRATOR
        ):
            raise Refusal(errors.MISSING_PERMISSIONS)
    if body.flags is not UNSET:
        ctx.require(next((bits for bits in _FLAG_PERMISSIONS if ctx.has(bits)), _FLAG_PERMISSIONS[0]))
    channel = None if state is None else await ctx.guild.channel(ctx.tx, state.channel_id)
    for value, bit in (
        (body.mute, Permissions.MUTE_MEMBERS),
        (body.deaf, Permissions.DEAFEN_MEMBERS),
        (body.channel_id, Permissions.MOVE_MEMBERS),
    ):
        if value is not UNSET:
            permissions = ctx.member.permissions if channel is None else ctx.member.permissions_in(channel)
            if not permissions & bit:
                raise Refusal(errors.MISSING_PERMISSIONS)


def _require_rank(ctx: Context, row: MemberRow) -> None:
    if not ctx.member.outranks(row.user_id, row.roles):
        raise Refusal(errors.MISSING_PERMISSIONS)


def _new_roles(
    ctx: Context, row: MemberRow, body: ModifyGuildMember, form_errors: FormErrors
) -> list[Snowflake] | None:
    """The role list to store, None if the body has none. Every role added or removed must be assignable."""
    if body.roles is UNSET:
        return None
    # Client libraries send @everyone along with a member's roles.
    role_ids = [r for r in dict.fromkeys(body.roles or ()) if r != ctx.guild.everyone.id]
    known = ctx.guild.roles
    before = {r for r in row.roles if r in known}
    check_assignable(ctx.member, [known[RoleId(r)] for r in before.symmetric_difference(role_ids) if r in known])
    check_not_linked([known[RoleId(r)] for r in role_ids if r in known and r not in before])
    for index, role_id in enumerate(body.roles or ()):
        if role_id not in known:
            form_errors.add(["roles", index], FormCode.BASE_TYPE_CHOICES, f"Role {int(role_id)} is not in this guild.")
    if set(role_ids) == before:
        return list(row.roles)
    return [Snowflake(r) for r in role_ids]


async def _target_channel(ctx: Context, body: ModifyGuildMember, form_errors: FormErrors) -> Channel | None:
    """The voice channel to move the member to. Refuses (403/50013) an actor without CONNECT there."""
    if not isinstance(body.channel_id, int):
        return None
    channel = await voice.find_voice_channel(ctx, body.channel_id)
    if channel is None:
        form_errors.add("channel_id", FormCode.BASE_TYPE_CHOICES, "This is not a voice channel of this guild.")
        return None
    # Without VIEW_CHANNEL, computed permissions of a voice channel lack CONNECT too.
    if not ctx.member.permissions_in(channel) & Permissions.CONNECT:
        raise Refusal(errors.MISSING_PERMISSIONS)
    return channel


def _new_values(ctx: Context, row: MemberRow, body: ModifyGuildMember, form_errors: FormErrors) -> dict[str, Any]:
    """The columns for all fields but `roles` and `channel_id`."""
    values: dict[str, object] = {}
    if body.nick is not UNSET:
        values.update(_nick_values(body.nick))
    if body.mute is not UNSET:
        values["mute"] = bool(body.mute)
    if body.deaf is not UNSET:
        values["deaf"] = bool(body.deaf)
    if body.flags is not UNSET:
        values["flags"] = row.flags & ~MemberFlags.EDITABLE | (body.flags or 0) & MemberFlags.EDITABLE
    until = body.communication_disabled_until
    if until is not UNSET:
        if until is not None and until > ctx.now + limits.TIMEOUT_MAX * 1000:
            days = limits.TIMEOUT_MAX // 86_400
            form_errors.add(
                "communication_disabled_until",
                FormCode.BASE_TYPE_BAD_TYPE,
                f"A timeout ends at most {days} days from now.",
            )
        # A time in the past clears the timeout.
        values["communication_disabled_until"] = until if until is not None and until > ctx.now else None
    return values


def _nick_values(nick: str | None) -> JsonObject:
    """The columns for a nickname, which is cleared if it is blank. It may contain what usernames may not."""
    name = clean_name(nick or "") or None
    return {"nick": name, "nick_key": None if name is None else search_key(name)}


async def _store(ctx: Context, before: MemberRow, after: MemberRow) -> None:
    """Update the columns that differ, and write their audit entries."""
    if after.roles != before.roles and after.roles:
        # A role makes a temporary membership permanent.
        after = structs.replace(after, temporary=False)
    names = [name for name in before.__struct_fields__ if getattr(before, name) != getattr(after, name)]
    if not names:
        return
    await queries.update_member(
        ctx.tx, before.guild_id, before.user_id, **{name: getattr(after, name) for name in names}
    )
    changes = [
        structs.replace(change, key=_AUDIT_KEYS.get(change.key, change.key))
        for change in differences(before, after, _AUDITED)
    ]
    if changes:
        await ctx.audit(AuditLogEvent.MEMBER_UPDATE, target=before.user_id, changes=changes)
    if "nick" in names:
        await NICKNAME_CHANGED(ctx, ctx.guild, before.user_id)
    if "roles" in names:
        await ctx.audit(
            AuditLogEvent.MEMBER_ROLE_UPDATE,
            target=before.user_id,
            changes=role_changes(ctx, before.roles, after.roles),
        )


def role_changes(ctx: Context, before: Iterable[Snowflake], after: Iterable[Snowflake]) -> list[AuditLogChange]:
    """The audit log changes for roles added and removed: partial roles under the keys `$add` and `$remove`."""
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
    """Move or disconnect a member in voice, or announce that their server mute or deafen changed."""
    if moved and target is None:
        await voice.disconnect_member(ctx, state, member)
        await ctx.audit(AuditLogEvent.MEMBER_DISCONNECT, options=AuditLogOptions(count="1"))
    elif moved and target is not None:
        authority = build_authority(
            ctx.guild,
            state.user_id,
            member.roles,
            pending=before.pending,
            until=member.communication_disabled_until,
            flags=member.flags,
            now=ctx.now,
            guest_of=before.guest_channel_id,
        )
        await voice.move_member(ctx, state, target, member, authority.permissions_in(target))
        options = AuditLogOptions(count="1", channel_id=Snowflake(target.id))
        await ctx.audit(AuditLogEvent.MEMBER_MOVE, options=options)
    elif (before.mute, before.deaf) != (member.mute, member.deaf):
        await voice.announce_voice_state(ctx, state, state, member)
