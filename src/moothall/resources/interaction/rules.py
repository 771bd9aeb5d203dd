"""Which commands a user can use in a channel, and for which installations (interactions: application commands)."""

from collections.abc import Mapping, Sequence
from typing import Final

from moothall.kernel.channel_access import ChannelAccess, find_channel
from moothall.kernel.context import Context
from moothall.kernel.guild_state import MemberAuthority
from moothall.objects import errors
from moothall.objects.application import IntegrationType
from moothall.objects.channel_types import ChannelType
from moothall.objects.command import Command, CommandPermissionType, InteractionContext
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ApplicationId, ChannelId, Snowflake, UserId
from moothall.objects.permissions import Permissions
from moothall.objects.scopes import BOT, COMMANDS
from moothall.resources.application.authorization.queries import select_authorization
from moothall.resources.integration.queries import select_of_application
from moothall.resources.interaction.command.objects import permissions_object
from moothall.resources.interaction.command.queries import PermissionsRow, select_permissions

_DM_PERMISSIONS: Final = Permissions.ATTACH_FILES | Permissions.EMBED_LINKS | Permissions.MENTION_EVERYONE
"""`app_permissions` in direct messages; with the application's own bot also USE_EXTERNAL_EMOJIS."""


def interaction_context(access: ChannelAccess, application_id: ApplicationId) -> InteractionContext:
    """The context of an application's interactions in a channel."""
    if access.guild is not None:
        return InteractionContext.GUILD
    if access.channel.type == ChannelType.DM and UserId(application_id) in access.recipients:
        return InteractionContext.BOT_DM
    return InteractionContext.PRIVATE_CHANNEL


async def authorizing_owners(
    ctx: Context, access: ChannelAccess, application_id: ApplicationId, supported: Sequence[int]
) -> dict[str, str]:
    """`authorizing_integration_owners`: who has installed an application, by integration type, among `supported` ones.

    Empty if it is installed neither to the guild nor to the caller.
    """
    owners: dict[str, str] = {}
    if IntegrationType.GUILD_INSTALL in supported:
        if access.guild is not None:
            row = await select_of_application(ctx.tx, access.guild.id, application_id)
            if row is not None and not {BOT, COMMANDS}.isdisjoint(row.scopes):
                owners["0"] = str(int(access.guild.id))
        elif interaction_context(access, application_id) is InteractionContext.BOT_DM:
            owners["0"] = "0"
    if IntegrationType.USER_INSTALL in supported:
        authorization = await select_authorization(ctx.tx, ctx.actor.user_id, application_id)
        if authorization is not None and authorization.user_install:
            owners["1"] = str(int(ctx.actor.user_id))
    return owners


async def app_permissions(ctx: Context, access: ChannelAccess, application_id: ApplicationId) -> int:
    """The permissions of an application's bot in a channel."""
    if access.guild is None:
        bits = int(_DM_PERMISSIONS)
        if interaction_context(access, application_id) is InteractionContext.BOT_DM:
            bits |= Permissions.USE_EXTERNAL_EMOJIS
        return bits
    bot = await find_channel(ctx.services.states, ctx.tx, access.id, UserId(application_id), ctx.now, writes=ctx.writes)
    if bot is not None and bot.member is not None:
        return bot.permissions
    return int(_DM_PERMISSIONS)


async def require_command_usable(ctx: Context, access: ChannelAccess, command: Command, owners: dict[str, str]) -> None:
    """Require that the caller can use a command in a channel.

    Raises Refusal: 404/10063 for a command that is not available there, 403/50013 for one that the guild's permissions
    or its own default deny, 50035 at `data.id` for an age-restricted one in another channel.
    """
    context = interaction_context(access, command.application_id)
    contexts = command.contexts if isinstance(command.contexts, list) else list(InteractionContext)
    is_guild_command = isinstance(command.guild_id, int)
    if (
        not owners
        or (not is_guild_command and context not in contexts)
        or (is_guild_command and access.guild is None)
        or (context is InteractionContext.PRIVATE_CHANNEL and "1" not in owners)
    ):
        raise Refusal(errors.UNKNOWN_APPLICATION_COMMAND)
    if command.nsfw and access.guild is not None:
        channel = access.parent or access.channel
        if channel.nsfw is not True:
            refuse_field("data.id", FormCode.BASE_TYPE_CHOICES, "This command is for age-restricted channels.")
    if access.guild is None or access.member is None:
        return
    ctx.require(Permissions.USE_APPLICATION_COMMANDS)
    if "0" not in owners:
        return
    rows = await select_permissions(ctx.tx, access.guild.id, command.application_id)
    permissions_by_id = {row.command_id: row for row in rows}
    if not can_use_command(access.member, ctx.permissions, access.audience_channel_id, command, permissions_by_id):
        raise Refusal(errors.MISSING_PERMISSIONS)


def can_use_command(
    member: MemberAuthority,
    permissions: int,
    channel_id: ChannelId | None,
    command: Command,
    permissions_by_id: Mapping[Snowflake, PermissionsRow],
) -> bool:
    """Whether a member can use a command in a channel, or with None in any channel of the guild.

    The guild's permissions for the command decide, else those for its application, else the command's
    `default_member_permissions`. `permissions` are the member's in the channel; `permissions_by_id` are the guild's
    command permissions by the id of the command or the application.
    """
    if permissions & Permissions.ADMINISTRATOR:
        return True
    of_application = permissions_by_id.get(Snowflake(command.application_id))
    of_command = permissions_by_id.get(Snowflake(command.id))
    if channel_id is not None and not _is_channel_allowed(member, channel_id, of_command, of_application):
        return False
    allowed = _is_member_allowed(member, of_command)
    if allowed is None:
        allowed = _is_member_allowed(member, of_application)
    if allowed is not None:
        return allowed
    needed = command.default_member_permissions
    if needed is None:
        return True
    return bool(needed) and permissions & needed == needed


def _is_channel_allowed(member: MemberAuthority, channel_id: ChannelId, *rows: PermissionsRow | None) -> bool:
    """Whether the first row that has the channel, or all channels (guild id - 1), allows it; True if none has."""
    all_channels = Snowflake(member.guild.id - 1)
    for row in rows:
        if row is None:
            continue
        permission_by_id = {
            entry.id: entry.permission
            for entry in permissions_object(row).permissions
            if entry.type == CommandPermissionType.CHANNEL
        }
        for key in (Snowflake(channel_id), all_channels):
            if key in permission_by_id:
                return permission_by_id[key]
    return True


def _is_member_allowed(member: MemberAuthority, row: PermissionsRow | None) -> bool | None:
    """The permission of the user, else of any of their roles, else of @everyone; None if the row has none of these."""
    if row is None:
        return None
    entries = permissions_object(row).permissions
    for entry in entries:
        if entry.type == CommandPermissionType.USER and entry.id == member.user_id:
            return entry.permission
    by_role = [
        entry.permission
        for entry in entries
        if entry.type == CommandPermissionType.ROLE and entry.id in member.role_ids
    ]
    if by_role:
        return any(by_role)
    for entry in entries:
        if entry.type == CommandPermissionType.ROLE and entry.id == member.guild.id:
            return entry.permission
    return None
