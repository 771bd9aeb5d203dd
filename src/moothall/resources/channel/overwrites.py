"""Permission overwrites: reading them from requests, and who may change which bits (topics: permissions)."""

from collections.abc import Iterable, Mapping
from typing import Any

from moothall.kernel.context import Context
from moothall.kernel.guild_state import MemberAuthority
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogChange, AuditLogEntry, AuditLogEvent, AuditLogOptions
from moothall.objects.channel import Channel, Overwrite
from moothall.objects.channel_types import OverwriteType
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ChannelId, RoleId, Snowflake
from moothall.objects.permissions import Permissions, PermissionSet
from moothall.resources.channel import queries
from moothall.resources.channel.requests import OverwriteRequest


def overwrite(target: Snowflake, kind: int, allow: PermissionSet | object, deny: PermissionSet | object) -> Overwrite:
    """An overwrite from a request's fields: absent and null sets are empty."""
    return Overwrite(
        id=target,
        type=kind,
        allow=allow if isinstance(allow, PermissionSet) else PermissionSet(0),
        deny=deny if isinstance(deny, PermissionSet) else PermissionSet(0),
    )


async def read_overwrites(
    ctx: Context, asked: Iterable[OverwriteRequest], held: Iterable[Overwrite], form_errors: FormErrors
) -> list[Overwrite]:
    """A request's overwrites. Each must be about a role or member of the guild, once.

    Those of people who have left stay valid while the channel already `held` them.
    """
    asked, known = list(asked), {(int(item.id), item.type) for item in held}
    roles = ctx.guild.roles
    people = [item.id for item in asked if item.type != 0 and RoleId(item.id) not in roles]
    members = await queries.members_among(ctx.tx, ctx.guild.id, people)
    overwrites: dict[int, Overwrite] = {}
    for index, item in enumerate(asked):
        at = form_errors.at(("permission_overwrites", index, "id"))
        is_role = RoleId(item.id) in roles
        kind = int(item.type) if isinstance(item.type, int) else int(not is_role)
        exists = is_role if kind == OverwriteType.ROLE else item.id in members
        if not exists and (int(item.id), kind) not in known:
            at.add("", FormCode.BASE_TYPE_CHOICES, "The guild has no such role or member.")
        if int(item.id) in overwrites:
            at.add("", FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "There is an overwrite for it already.")
        overwrites[int(item.id)] = overwrite(item.id, kind, item.allow, item.deny)
    return list(overwrites.values())


def as_column(overwrites: Iterable[Overwrite]) -> list[dict[str, Any]]:
    """Overwrites as they are stored."""
    return [
        {"id": str(int(o.id)), "type": o.type, "allow": str(int(o.allow)), "deny": str(int(o.deny))} for o in overwrites
    ]


def changed_bits(before: Iterable[Overwrite], after: Iterable[Overwrite]) -> int:
    """Every bit that some overwrite allows or denies in one of the two and not in the other."""
    old, new = _by_target(before), _by_target(after)
    bits = 0
    for target in {**old, **new}:
        was, now = old.get(target, _NONE), new.get(target, _NONE)
        bits |= (int(was.allow) ^ int(now.allow)) | (int(was.deny) ^ int(now.deny))
    return bits


def require_bits(member: MemberAuthority, bits: int, held: int) -> None:
    """Only bits that the caller holds may be changed, and MANAGE_ROLES by administrators alone.

    Raises Refusal: 403/50013.
    """
    if member.permissions & Permissions.ADMINISTRATOR:
        return
    if bits & ~held or bits & Permissions.MANAGE_ROLES:
        raise Refusal(errors.MISSING_PERMISSIONS)


async def held_for_editing(ctx: Context, channel: Channel) -> int:
    """The bits that the caller may allow and deny in a channel.

    They are those held in the guild or in the channel's category; an overwrite of the channel that
    gives them MANAGE_ROLES frees them from that.
    """
    member, listed = ctx.member, channel.permission_overwrites
    own = {int(member.user_id), *map(int, member.role_ids)}
    if any(o.id in own and o.allow & Permissions.MANAGE_ROLES for o in (listed or ())):
        return int(Permissions.ALL)
    parent = await ctx.guild.channel(ctx.tx, ChannelId(channel.parent_id)) if channel.parent_id else None
    return member.permissions | (0 if parent is None else member.permissions_in(parent))


def overwrite_entries(
    ctx: Context, channel_id: ChannelId, before: Iterable[Overwrite], after: Iterable[Overwrite]
) -> list[AuditLogEntry]:
    """One entry, not written yet, for each overwrite that was made, changed or taken away."""
    old, new = _by_target(before), _by_target(after)
    entries = []
    for target in {**old, **new}:
        was, now = old.get(target), new.get(target)
        if was == now:
            continue
        action = (
            AuditLogEvent.CHANNEL_OVERWRITE_CREATE
            if was is None
            else AuditLogEvent.CHANNEL_OVERWRITE_DELETE
            if now is None
            else AuditLogEvent.CHANNEL_OVERWRITE_UPDATE
        )
        entries.append(ctx.audit_entry(action, channel_id, _changes(was, now), _options(ctx, was or now or _NONE)))
    return entries


def _options(ctx: Context, about: Overwrite) -> AuditLogOptions:
    role = ctx.guild.roles.get(RoleId(about.id)) if about.type == OverwriteType.ROLE else None
    if role is None:
        return AuditLogOptions(id=about.id, type=str(about.type))
    return AuditLogOptions(id=about.id, type=str(about.type), role_name=role.name)


def _changes(was: Overwrite | None, now: Overwrite | None) -> list[AuditLogChange]:
    keys = ("allow", "deny") if was is not None and now is not None else ("id", "type", "allow", "deny")
    changes = []
    for key in keys:
        old, new = _plain(was, key), _plain(now, key)
        if was is None:
            changes.append(AuditLogChange(key=key, new_value=new))
        elif now is None:
            changes.append(AuditLogChange(key=key, old_value=old))
        elif old != new:
            changes.append(AuditLogChange(key=key, old_value=old, new_value=new))
    return changes


def _plain(about: Overwrite | None, key: str) -> object:
    value = getattr(about, key, None)
    return value if key == "type" or value is None else str(int(value))


def _by_target(overwrites: Iterable[Overwrite]) -> Mapping[int, Overwrite]:
    return {int(item.id): item for item in overwrites}


_NONE = Overwrite(id=Snowflake(0), type=0)
