"""What is done to roles. Others who give or take one (integrations) use `add_role` and `remove_role`."""

from collections.abc import Sequence

from msgspec import UNSET, UnsetType, structs

from moothall.kernel.context import Context
from moothall.kernel.jobs import enqueue
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import RoleId
from moothall.objects.permissions import PermissionSet
from moothall.objects.role import Role, RoleColors, RoleTags
from moothall.resources.channel.events import ChannelUpdate
from moothall.resources.channel.objects import channel_objects
from moothall.resources.emoji.operations import take_role
from moothall.resources.guild.role import queries
from moothall.resources.guild.role.events import GuildRoleCreate, GuildRoleDelete, GuildRoleUpdate
from moothall.resources.guild.role.jobs import TakeRole
from moothall.resources.guild.role.requests import CreateGuildRole, ModifyGuildRole, RolePosition
from moothall.resources.guild.role.rules import changes_between, colors_of, keeps_the_top, settings_of
from moothall.storage.rows import channel_from_row

REMOVING = (GuildRoleDelete, ChannelUpdate)
"""What a row declares to fire if it may remove a role."""


def find_role(ctx: Context, role_id: RoleId) -> Role:
    """A role of the guild entered. Raises Refusal 404/10011."""
    role = ctx.guild.roles.get(role_id)
    if role is None:
        raise Refusal(errors.UNKNOWN_ROLE)
    return role


async def create_role(ctx: Context, body: CreateGuildRole) -> Role:
    """Make a role as a request asks. Raises Refusal: 403/50013 for permissions that the actor lacks."""
    features = ctx.guild.row.features
    colors = colors_of(body, RoleColors(), features)
    given = {
        "name": limits.ROLE_NAME_DEFAULT,
        "permissions": ctx.guild.everyone.permissions,
        **settings_of(body, features),
    }
    ctx.require(given["permissions"])
    return await add_role(ctx, colors=colors, **given)


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

    Whether the permissions may be given is the caller's to check. Raises Refusal: 400/30005 when
    there are as many roles as may be.
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
    await ctx.audit(AuditLogEvent.ROLE_CREATE, target=role.id, changes=changes_between(None, role))
    ctx.emit(GuildRoleCreate(guild_id=ctx.guild.id, role=role))
    return role


async def change_role(ctx: Context, role_id: RoleId, body: ModifyGuildRole) -> Role:
    """Change a role as a request asks; what changes nothing tells nobody.

    Raises Refusal: 404/10011; 403/50013 for a role not below the actor's highest, and for
    permissions that the actor lacks and the role has not; 400/50028 for @everyone, which has
    nothing but permissions.
    """
    before = find_role(ctx, role_id)
    if not ctx.member.outranks_role(before):
        raise Refusal(errors.MISSING_PERMISSIONS)
    asked = body.permissions if isinstance(body.permissions, int) else before.permissions
    ctx.require(asked & ~before.permissions)
    colors = colors_of(body, before.colors, ctx.guild.row.features)
    after = structs.replace(
        before, color=colors.primary_color, colors=colors, **settings_of(body, ctx.guild.row.features, before)
    )
    if after == before:
        return before
    if before.id == ctx.guild.everyone.id and after != structs.replace(before, permissions=after.permissions):
        raise Refusal(errors.INVALID_ROLE)
    await queries.update_role(ctx.tx, ctx.guild.id, before, after)
    await ctx.audit(AuditLogEvent.ROLE_UPDATE, target=after.id, changes=changes_between(before, after))
    ctx.emit(GuildRoleUpdate(guild_id=ctx.guild.id, role=after))
    return after


async def move_roles(ctx: Context, items: Sequence[RolePosition]) -> list[Role]:
    """Put roles elsewhere, all or none; every role of the guild as it stands then, lowest first.

    Positions are kept as given; of equal ones the older role is higher. Raises Refusal: 403/50013
    for a role not below the actor's highest, before or after; 400/50035 for roles that are not the
    guild's or named twice, for @everyone anywhere but at 0, and for others there.

    A request that names every role states their order, which is how client libraries move one: they number all roles
    without gaps. Roles not below the actor's highest may get another number by it, if each keeps its place.
    """
    form_errors = FormErrors()
    wanted = _wanted_positions(ctx, items, form_errors)
    ordering = wanted.keys() >= ctx.guild.roles.keys() - {ctx.guild.everyone.id}
    if ordering and not keeps_the_top(ctx.guild.roles.values(), wanted, ctx.member.outranks_role):
        raise Refusal(errors.MISSING_PERMISSIONS)
    moved = []
    for role_id, position in wanted.items():
        before = ctx.guild.roles[role_id]
        if before.position == position:
            continue
        after = structs.replace(before, position=position)
        if not ordering and not (ctx.member.outranks_role(before) and ctx.member.outranks_role(after)):
            raise Refusal(errors.MISSING_PERMISSIONS)
        moved.append((before, after))
    form_errors.raise_if_any()
    if moved:
        await queries.move_roles(ctx.tx, ctx.guild.id, [after for _, after in moved])
        await ctx.audit_each(
            AuditLogEvent.ROLE_UPDATE, [(after.id, changes_between(before, after)) for before, after in moved]
        )
        for _, after in moved:
            ctx.emit(GuildRoleUpdate(guild_id=ctx.guild.id, role=after))
    now = {**ctx.guild.roles, **{after.id: after for _, after in moved}}
    return sorted(now.values(), key=lambda role: (role.position, role.id))


def _wanted_positions(ctx: Context, items: Sequence[RolePosition], form_errors: FormErrors) -> dict[RoleId, int]:
    """The positions asked for, of roles that may be asked for."""
    wanted: dict[RoleId, int] = {}
    for index, item in enumerate(items):
        if item.id is UNSET or item.id is None:
            continue
        if item.id not in ctx.guild.roles:
            form_errors.add([index, "id"], FormCode.BASE_TYPE_CHOICES, "This role does not exist in this guild.")
        elif item.id in wanted:
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
                wanted[item.id] = item.position
    return wanted


async def delete_role(ctx: Context, role_id: RoleId) -> None:
    """Remove a role by hand.

    Raises Refusal: 404/10011; 403/50013 for a role not below the actor's highest; 400/50028 for
    @everyone and for roles that an integration manages.
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
    """Remove a role from the guild entered, from its holders, emojis and the overwrites of channels.

    Others keep their positions. In a large guild some members list it for a while longer, to no effect.
    Whoever calls this has checked that it may be done and declares `REMOVING`. Removing it again changes
    nothing.
    """
    if not await queries.delete_role(ctx.tx, ctx.guild.id, role.id):
        return
    await take_role(ctx, role.id)
    rest = await TakeRole(guild_id=ctx.guild.id, role_id=role.id).step(ctx)
    if rest is not None:
        await enqueue(ctx, rest)
    await ctx.audit(AuditLogEvent.ROLE_DELETE, target=role.id, changes=changes_between(role, None))
    ctx.emit(GuildRoleDelete(guild_id=ctx.guild.id, role_id=role.id))
    changed = await queries.take_from_channels(ctx.tx, ctx.guild.id, role.id)
    for channel in await channel_objects(ctx.tx, map(channel_from_row, changed)):
        ctx.emit(ChannelUpdate(channel=channel))
