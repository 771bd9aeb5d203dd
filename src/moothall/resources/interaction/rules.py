"""Which commands a user can use in a channel, and for which installations (interactions: application commands)."""

from collections.abc import Sequence
from typing import Final

from moothall.api.context import Context
from moothall.authority.channel_access import ChannelAccess, find_channel
from moothall.objects import errors
from moothall.objects.application import IntegrationType
from moothall.objects.channel_types import ChannelType
from moothall.objects.command import Command, InteractionContext
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ApplicationId, UserId
from moothall.objects.permissions import Permissions
from moothall.objects.scopes import BOT, COMMANDS
from moothall.resources.application.authorization.queries import select_authorization
from moothall.resources.integration.queries import select_of_application
from moothall.resources.interaction.command.queries import select_permissions
from moothall.resources.interaction.command.usage import can_use_command

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
