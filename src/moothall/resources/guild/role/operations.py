"""Role operations. Other rooms (integrations) create and delete roles with `add_role` and `remove_role`."""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, UnsetType, structs

from moothall.api.context import Context
from moothall.api.hooks import Fires, Hook
from moothall.api.jobs import enqueue
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import RoleId
from moothall.objects.permissions import PermissionSet
from moothall.objects.role import Role, RoleColors, RoleTags
from moothall.resources.channel.events import ChannelUpdate
from moothall.resources.channel.objects import channel_objects
from moothall.resources.emoji.operations import remove_role_from_emojis
from moothall.resources.guild.role import queries
from moothall.resources.guild.role.events import GuildRoleCreate, GuildRoleDelete, GuildRoleUpdate
from moothall.resources.guild.role.jobs import RemoveRoleFromMembers
from moothall.resources.guild.role.requests import CreateGuildRole, ModifyGuildRole, RolePosition
from moothall.resources.guild.role.rules import (
    keeps_highest_roles,
    requested_colors,
    requested_settings,
    role_audit_changes,
)
from moothall.storage.rows import channel_from_row

ROLE_DELETED: Final = Hook[[Context, RoleId], None]("role deleted")
"""Called after a role of the guild entered is deleted, in the same transaction."""
ROLE_DELETE_EVENTS: Final[Fires] = (GuildRoleDelete, ChannelUpdate, ROLE_DELETED)
"""The events of `remove_role`, which every row that calls it declares."""


def find_role(ctx: Context, role_id: RoleId) -> Role:
    """One role of the guild entered. Raises Refusal: 404/10011."""
    role = ctx.guild.roles.get(role_id)
    if role is None:
        raise Refusal(errors.UNKNOWN_ROLE)
    return role


async def create_role(ctx: Context, body: CreateGuildRole) -> Role:
    """Create a role. Raises Refusal: 403/50013 for permissions that the actor lacks, and what `add_role` raises."""
    features = ctx.guild.row.features
    colors = requested_colors(body, RoleColors(), features)
    settings = {
        "name": limits.ROLE_NAME_DEFAULT,
        "permissions": ctx.guild.everyone.permissions,
        **requested_settings(body, features),
    }
    ctx.require(settings["permissions"])
    return await add_role(ctx, colors=colors, **settings)


async def add_role(
    ctx: Context,
    *,
    name: str,
    permissions: PermissionSet,
    colors: RoleColors | None = None,
    hoist: bool = False,
    icon: str | None = None,
    unicode_emoji: str | None = None,
    mentionable: bool = False,
    managed: bool = False,
    tags: RoleTags | UnsetType = UNSET,
) -> Role:
    """Add a role to the guild entered, just above @everyone: of equal positions the newest is the lowest.

    The caller checks whether the permissions may be granted. Raises Refusal: 400/30005 for a guild with the maximum
    number of roles.
    """
    if len(ctx.guild.roles) >= limits.ROLES_PER_GUILD:
        raise Refusal(errors.TOO_MANY_ROLES)
    colors = colors or RoleColors()
    role = Role(
        id=RoleId(ctx.ids.next()),
        name=name,
        color=colors.primary_color,
        colors=colors,
        hoist=hoist,
        icon=icon,
        unicode_emoji=unicode_emoji,
        position=1,
        permissions=permissions,
        managed=managed,
        mentionable=mentionable,
        tags=tags,
    )
    await queries.insert_roles(ctx.tx, ctx.guild.id, [role])
    await ctx.audit(AuditLogEvent.ROLE_CREATE, target=role.id, changes=role_audit_changes(None, role))
    ctx.emit(GuildRoleCreate(guild_id=ctx.guild.id, role=role))
    return role


async def modify_role(ctx: Context, role_id: RoleId, body: ModifyGuildRole) -> Role:
    """Change a role; a request that changes nothing is neither recorded nor announced.

    Raises Refusal: 404/10011; 403/50013 for a role not below the actor's highest, and for new permissions that the
    actor lacks; 400/50028 for fields of @everyone other than its permissions.
    """
    before = find_role(ctx, role_id)
    if not ctx.member.outranks_role(before):
        raise Refusal(errors.MISSING_PERMISSIONS)
    permissions = body.permissions if isinstance(body.permissions, int) else before.permissions
    ctx.require(permissions & ~before.permissions)
    colors = requested_colors(body, before.colors, ctx.guild.row.features)
    after = structs.replace(
        before, color=colors.primary_color, colors=colors, **requested_settings(body, ctx.guild.row.features, before)
    )
    if after == before:
        return before
    if before.id == ctx.guild.everyone.id and after != structs.replace(before, permissions=after.permissions):
        raise Refusal(errors.INVALID_ROLE)
    await queries.update_role(ctx.tx, ctx.guild.id, before, after)
    await ctx.audit(AuditLogEvent.ROLE_UPDATE, target=after.id, changes=role_audit_changes(before, after))
    ctx.emit(GuildRoleUpdate(guild_id=ctx.guild.id, role=after))
    return after


async def modify_role_positions(ctx: Context, items: Sequence[RolePosition]) -> list[Role]:
    """Change the positions of roles, all or none; returns every role of the guild, lowest first.

    Positions are stored as requested; of equal ones the older role is higher. Raises Refusal: 403/50013 for a role not
    below the actor's highest, before or after; 400/50035 for roles of other guilds, for a role listed twice, for
    @everyone at another position than 0 and for other roles at 0.

    A request that lists every role states their order: client libraries move one role by numbering all roles without
    gaps. It may renumber roles not below the actor's highest, if their order stays.
    """
    form_errors = FormErrors()
    positions = _requested_positions(ctx, items, form_errors)
    ordering = positions.keys() >= ctx.guild.roles.keys() - {ctx.guild.everyone.id}
    if ordering and not keeps_highest_roles(ctx.guild.roles.values(), positions, ctx.member.outranks_role):
        raise Refusal(errors.MISSING_PERMISSIONS)
    moved = []
    for role_id, position in positions.items():
        before = ctx.guild.roles[role_id]
        if before.position == position:
            continue
        after = structs.replace(before, position=position)
        if not ordering and not (ctx.member.outranks_role(before) and ctx.member.outranks_role(after)):
            raise Refusal(errors.MISSING_PERMISSIONS)
        moved.append((before, after))
    form_errors.raise_if_any()
    if moved:
        await queries.update_role_positions(ctx.tx, ctx.guild.id, [after for _, after in moved])
        await ctx.audit_each(
            AuditLogEvent.ROLE_UPDATE, [(after.id, role_audit_changes(before, after)) for before, after in moved]
        )
        for _, after in moved:
            ctx.emit(GuildRoleUpdate(guild_id=ctx.guild.id, role=after))
    now = {**ctx.guild.roles, **{after.id: after for _, after in moved}}
    return sorted(now.values(), key=lambda role: (role.position, role.id))


def _requested_positions(ctx: Context, items: Sequence[RolePosition], form_errors: FormErrors) -> dict[RoleId, int]:
    """The valid requested positions by role id."""
    positions: dict[RoleId, int] = {}
    for index, item in enumerate(items):
        if item.id not in ctx.guild.roles:
            form_errors.add([index, "id"], FormCode.BASE_TYPE_CHOICES, "This role does not exist in this guild.")
        elif item.id in positions:
            form_errors.add(
                [index, "id"], FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "The set already contains this value."
            )
        elif isinstance(item.position, int):
            is_everyone = item.id == ctx.guild.everyone.id
            if is_everyone and item.position:
                form_errors.add([index, "position"], *FieldError.too_large(0))
            elif not is_everyone and not item.position:
                form_errors.add([index, "position"], *FieldError.too_small(1))
            else:
                positions[item.id] = item.position
    return positions


async def delete_role(ctx: Context, role_id: RoleId) -> None:
    """Delete a role on request.

    Raises Refusal: 404/10011; 403/50013 for a role not below the actor's highest; 400/50028 for @everyone and for
    managed roles.
    """
    role = find_role(ctx, role_id)
    if role.id == ctx.guild.everyone.id:
        raise Refusal(errors.INVALID_ROLE)
    if not ctx.member.outranks_role(role):
        raise Refusal(errors.MISSING_PERMISSIONS)
    if role.managed:
        raise Refusal(errors.INVALID_ROLE)
    await remove_role(ctx, role)


async def remove_role(ctx: Context, role: Role) -> None:
    """Delete a role of the guild entered, and remove it from its members, emojis and channel overwrites.

    Other roles keep their positions. In a large guild a job removes it from the remaining members, for whom it has no
    effect until then. The caller checks permissions and declares `ROLE_DELETE_EVENTS`. A second call changes nothing.
    """
    if not await queries.delete_role(ctx.tx, ctx.guild.id, role.id):
        return
    await remove_role_from_emojis(ctx, role.id)
    rest = await RemoveRoleFromMembers(guild_id=ctx.guild.id, role_id=role.id).step(ctx)
    if rest is not None:
        await enqueue(ctx, rest)
    await ctx.audit(AuditLogEvent.ROLE_DELETE, target=role.id, changes=role_audit_changes(role, None))
    ctx.emit(GuildRoleDelete(guild_id=ctx.guild.id, role_id=role.id))
    changed = await queries.remove_from_channels(ctx.tx, ctx.guild.id, role.id)
    for channel in await channel_objects(ctx.tx, map(channel_from_row, changed)):
        ctx.emit(ChannelUpdate(channel=channel))
    await ROLE_DELETED(ctx, role.id)
