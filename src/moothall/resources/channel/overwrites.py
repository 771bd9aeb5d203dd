"""Permission overwrites: decoding requests, checking changes, audit log entries (topics: permissions)."""

from collections.abc import Iterable, Mapping

from moothall.api.context import Context
from moothall.authority.member_authority import MemberAuthority
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogChange, AuditLogEntry, AuditLogEvent, AuditLogOptions
from moothall.objects.channel import Channel, Overwrite
from moothall.objects.channel_types import OverwriteType
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ChannelId, RoleId, Snowflake
from moothall.objects.json_object import JsonObject
from moothall.objects.permissions import Permissions, PermissionSet
from moothall.resources.channel import queries
from moothall.resources.channel.requests import OverwriteRequest


def overwrite_object(
    target: Snowflake, kind: int, allow: PermissionSet | object, deny: PermissionSet | object
) -> Overwrite:
    """Build an overwrite from the fields of a request; absent and null sets are empty."""
    return Overwrite(
        id=target,
        type=kind,
        allow=allow if isinstance(allow, PermissionSet) else PermissionSet(0),
        deny=deny if isinstance(deny, PermissionSet) else PermissionSet(0),
    )


async def read_overwrites(
    ctx: Context, requests: Iterable[OverwriteRequest], existing: Iterable[Overwrite], form_errors: FormErrors
) -> list[Overwrite]:
    """Read the overwrites of a request; each target must be a role or member of the guild, and be listed once.

    A member who has left stays a valid target while `existing` has an overwrite for them.
    """
    requests, known = list(requests), {(int(item.id), item.type) for item in existing}
    roles = ctx.guild.roles
    user_ids = [item.id for item in requests if item.type != 0 and RoleId(item.id) not in roles]
    members = await queries.select_member_ids(ctx.tx, ctx.guild.id, user_ids)
    overwrites: dict[int, Overwrite] = {}
    for index, item in enumerate(requests):
        at = form_errors.at(("permission_overwrites", index, "id"))
        is_role = RoleId(item.id) in roles
        kind = int(item.type) if isinstance(item.type, int) else int(not is_role)
        exists = is_role if kind == OverwriteType.ROLE else item.id in members
        if not exists and (int(item.id), kind) not in known:
            at.add("", FormCode.BASE_TYPE_CHOICES, "The guild has no such role or member.")
        if int(item.id) in overwrites:
            at.add("", FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "There is an overwrite for it already.")
        overwrites[int(item.id)] = overwrite_object(item.id, kind, item.allow, item.deny)
    return list(overwrites.values())


def overwrites_column(overwrites: Iterable[Overwrite]) -> list[JsonObject]:
    """Return the value of the column `permission_overwrites`."""
    return [
        {"id": str(int(o.id)), "type": o.type, "allow": str(int(o.allow)), "deny": str(int(o.deny))} for o in overwrites
    ]


def changed_permissions(before: Iterable[Overwrite], after: Iterable[Overwrite]) -> int:
    """Return the permissions that some overwrite allows or denies in only one of the two lists."""
    old, new = _by_target(before), _by_target(after)
    bits = 0
    for target in {**old, **new}:
        was, now = old.get(target, _EMPTY), new.get(target, _EMPTY)
        bits |= (int(was.allow) ^ int(now.allow)) | (int(was.deny) ^ int(now.deny))
    return bits


def require_changeable(member: MemberAuthority, changed: int, allowed: int) -> None:
    """Check that the member may change permissions in overwrites: those in `allowed` and not MANAGE_ROLES.

    Administrators may change all. Raises Refusal: 403/50013.
    """
    if member.permissions & Permissions.ADMINISTRATOR:
        return
    if changed & ~allowed or changed & Permissions.MANAGE_ROLES:
        raise Refusal(errors.MISSING_PERMISSIONS)


async def changeable_permissions(ctx: Context, channel: Channel) -> int:
    """Return the permissions that the caller may allow and deny in overwrites of a channel.

    These are the caller's permissions in the guild and in the channel's category, or all permissions if an overwrite
    of the channel grants MANAGE_ROLES to the caller.
    """
    parent = await ctx.guild.channel(ctx.tx, ChannelId(channel.parent_id)) if channel.parent_id else None
    return changeable_below(ctx.member, channel, parent)


def changeable_below(member: MemberAuthority, channel: Channel, parent: Channel | None) -> int:
    """Return the permissions that a member may allow and deny in overwrites of a channel in a category, or in none."""
    own_ids = {int(member.user_id), *map(int, member.role_ids)}
    if any(o.id in own_ids and o.allow & Permissions.MANAGE_ROLES for o in (channel.permission_overwrites or ())):
        return int(Permissions.ALL)
    return member.permissions | (0 if parent is None else member.permissions_in(parent))


def overwrite_audit_entries(
    ctx: Context, channel_id: ChannelId, before: Iterable[Overwrite], after: Iterable[Overwrite]
) -> list[AuditLogEntry]:
    """Build an audit log entry for each overwrite that was created, updated or deleted."""
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
        entries.append(ctx.audit_entry(action, channel_id, _changes(was, now), _options(ctx, was or now or _EMPTY)))
    return entries


def _options(ctx: Context, overwrite: Overwrite) -> AuditLogOptions:
    role = ctx.guild.roles.get(RoleId(overwrite.id)) if overwrite.type == OverwriteType.ROLE else None
    if role is None:
        return AuditLogOptions(id=overwrite.id, type=str(overwrite.type))
    return AuditLogOptions(id=overwrite.id, type=str(overwrite.type), role_name=role.name)


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


def _plain(overwrite: Overwrite | None, key: str) -> object:
    value = getattr(overwrite, key, None)
    return value if key == "type" or value is None else str(int(value))


def _by_target(overwrites: Iterable[Overwrite]) -> Mapping[int, Overwrite]:
    return {int(item.id): item for item in overwrites}


_EMPTY = Overwrite(id=Snowflake(0), type=0)
