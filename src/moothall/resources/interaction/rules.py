"""Who may use which command where, and for whom it is installed (interactions: application commands, permissions)."""

from collections.abc import Mapping, Sequence
from typing import Final

from moothall.kernel.channel_access import ChannelAccess
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

DIRECT_PERMISSIONS: Final = Permissions.ATTACH_FILES | Permissions.EMBED_LINKS | Permissions.MENTION_EVERYONE
"""What an application may do in direct messages; with its own bot also USE_EXTERNAL_EMOJIS."""


def context_of(access: ChannelAccess, application_id: ApplicationId) -> InteractionContext:
    """Where an interaction happens."""
    if access.guild is not None:
        return InteractionContext.GUILD
    if access.channel.type == ChannelType.DM and UserId(application_id) in access.recipients:
        return InteractionContext.BOT_DM
    return InteractionContext.PRIVATE_CHANNEL


async def owners_of(
    ctx: Context, access: ChannelAccess, application_id: ApplicationId, supported: Sequence[int]
) -> dict[str, str]:
    """Who has installed an application that is used here, by integration type; empty if nobody has.

    `supported` are the integration types that what is used supports.
    """
    found: dict[str, str] = {}
    if IntegrationType.GUILD_INSTALL in supported:
        if access.guild is not None:
            row = await select_of_application(ctx.tx, access.guild.id, application_id)
            if row is not None and not {BOT, COMMANDS}.isdisjoint(row.scopes):
                found["0"] = str(int(access.guild.id))
        elif context_of(access, application_id) is InteractionContext.BOT_DM:
            found["0"] = "0"
    if IntegrationType.USER_INSTALL in supported:
        authorization = await select_authorization(ctx.tx, ctx.actor.user_id, application_id)
        if authorization is not None and authorization.user_install:
            found["1"] = str(int(ctx.actor.user_id))
    return found


async def require_usable(ctx: Context, access: ChannelAccess, command: Command, owners: dict[str, str]) -> None:
    """Let the caller use a command here.

    Raises Refusal: 404/10063 for one that is not there for them, 403/50013 for one that the guild, or
    the command itself, keeps from them, 50035 at `data.id` for an age-restricted one elsewhere.
    """
    context = context_of(access, command.application_id)
    allowed = command.contexts if isinstance(command.contexts, list) else list(InteractionContext)
    is_guilds = isinstance(command.guild_id, int)
    if not owners or (not is_guilds and context not in allowed) or (is_guilds and access.guild is None):
        raise Refusal(errors.UNKNOWN_APPLICATION_COMMAND)
    if context is InteractionContext.PRIVATE_CHANNEL and "1" not in owners:
        raise Refusal(errors.UNKNOWN_APPLICATION_COMMAND)
    if command.nsfw and access.guild is not None:
        where = access.parent or access.channel
        if where.nsfw is not True:
            refuse_field("data.id", FormCode.BASE_TYPE_CHOICES, "This command is for age-restricted channels.")
    if access.guild is None or access.member is None:
        return
    ctx.require(Permissions.USE_APPLICATION_COMMANDS)
    if "0" not in owners:
        return
    rows = await select_permissions(ctx.tx, access.guild.id, command.application_id)
    said = {row.command_id: row for row in rows}
    if not is_allowed(access.member, ctx.permissions, access.audience_channel_id, command, said):
        raise Refusal(errors.MISSING_PERMISSIONS)


def is_allowed(
    member: MemberAuthority,
    permissions: int,
    channel_id: ChannelId | None,
    command: Command,
    said: Mapping[Snowflake, PermissionsRow],
) -> bool:
    """Whether a member may use a command in a channel, or with None in the guild at all.

    That is what the guild says of it, else of all of its application's; where nothing is said, the
    command's own default. `permissions` are the member's in the channel, and `said` is what the guild says, by the
    command's or the application's id.
    """
    if permissions & Permissions.ADMINISTRATOR:
        return True
    general, special = said.get(Snowflake(command.application_id)), said.get(Snowflake(command.id))
    if channel_id is not None and not _channel_allowed(member, channel_id, special, general):
        return False
    verdict = _person_allowed(member, special)
    if verdict is None:
        verdict = _person_allowed(member, general)
    if verdict is not None:
        return verdict
    needed = command.default_member_permissions
    if needed is None:
        return True
    return bool(needed) and permissions & needed == needed


def _channel_allowed(member: MemberAuthority, channel_id: ChannelId, *said: PermissionsRow | None) -> bool:
    everywhere = member.guild.id - 1
    for row in said:
        if row is None:
            continue
        by_id = {
            each.id: each.permission
            for each in permissions_object(row).permissions
            if each.type == CommandPermissionType.CHANNEL
        }
        for key in (Snowflake(channel_id), Snowflake(everywhere)):
            if key in by_id:
                return by_id[key]
    return True


def _person_allowed(member: MemberAuthority, row: PermissionsRow | None) -> bool | None:
    """What is said of the person themself, else of any role of theirs, else of everybody; None if nothing."""
    if row is None:
        return None
    said = permissions_object(row).permissions
    for each in said:
        if each.type == CommandPermissionType.USER and each.id == member.user_id:
            return each.permission
    by_role = [
        each.permission for each in said if each.type == CommandPermissionType.ROLE and each.id in member.role_ids
    ]
    if by_role:
        return any(by_role)
    for each in said:
        if each.type == CommandPermissionType.ROLE and each.id == member.guild.id:
            return each.permission
    return None
