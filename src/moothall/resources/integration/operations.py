"""Adding bots to guilds and ending integrations."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from msgspec import UNSET, structs

from moothall.kernel import unit_of_work
from moothall.kernel.audit import differences
from moothall.kernel.authenticate import ANONYMOUS
from moothall.kernel.context import Context
from moothall.kernel.hooks import Fires
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.errors import Refusal
from moothall.objects.ids import GuildId, IntegrationId, Snowflake, UserId
from moothall.objects.integration import BOT, IntegrationAccount
from moothall.objects.permissions import PermissionSet
from moothall.objects.role import Role, RoleTags
from moothall.objects.scopes import COMMANDS
from moothall.objects.wire import to_plain
from moothall.resources.application.queries import ApplicationRow
from moothall.resources.guild.membership.operations import JOINING, LEAVING, join_guild, remove_member
from moothall.resources.guild.role.events import GuildRoleCreate, GuildRoleUpdate
from moothall.resources.guild.role.operations import add_role
from moothall.resources.guild.role.queries import update_role
from moothall.resources.guild.role.rules import changes_between
from moothall.resources.integration import queries
from moothall.resources.integration.bots import INTEGRATION_DELETED, retire_bot
from moothall.resources.integration.events import (
    GuildIntegrationsUpdate,
    IntegrationCreate,
    IntegrationDelete,
    IntegrationUpdate,
)
from moothall.resources.integration.objects import integration_object
from moothall.resources.integration.queries import IntegrationRow
from moothall.resources.member.events import GuildMemberUpdate
from moothall.resources.member.queries import change_member, get_member, member_object, select_guild_ids
from moothall.resources.user.queries import get_user, select_user

ADDING: Final[Fires] = (
    *JOINING,
    GuildRoleCreate,
    GuildRoleUpdate,
    GuildMemberUpdate,
    IntegrationCreate,
    IntegrationUpdate,
    GuildIntegrationsUpdate,
)
"""What a row declares to fire if it may add a bot."""
ENDING: Final[Fires] = (*LEAVING, INTEGRATION_DELETED)
"""What a row declares to fire if it may end an integration."""

_AUDITED: Final = ("name", "type", "scopes")


async def add_bot(
    ctx: Context, application: ApplicationRow, *, permissions: PermissionSet, scopes: Sequence[str]
) -> IntegrationRow:
    """Add an application's bot to the guild entered, with a role of its own that carries the permissions asked for.

    No role is made for no permissions. For a bot that is there already the role's permissions become
    those asked for, and nothing is told of what stays. Whether the actor may give the permissions is
    the caller's to check, who has locked the application and declares `ADDING`. Raises Refusal:
    404/10013 for an application without a bot, and as `join_guild` and `add_role`.
    """
    bot_id = UserId(application.id) if application.bot_user_id is None else application.bot_user_id
    bot = await select_user(ctx.tx, bot_id)
    if bot is None or not bot.bot or bot.deleted:
        raise Refusal(errors.UNKNOWN_USER)
    member = await get_member(ctx.tx, ctx.guild.id, bot_id)
    role = await _own_role(ctx, application, bot_id, permissions)
    if member is None:
        await join_guild(ctx, ctx.guild, bot, roles=() if role is None else (role.id,))
        await ctx.audit(AuditLogEvent.BOT_ADD, target=bot_id)
    elif role is not None and role.id not in member.roles:
        member = structs.replace(member, roles=[*member.roles, Snowflake(role.id)])
        await change_member(ctx.tx, ctx.guild.id, bot_id, roles=member.roles)
        ctx.emit(GuildMemberUpdate(guild_id=ctx.guild.id, member=await member_object(ctx.tx, member)))
    return await _integrate(ctx, application, scopes)


async def install_commands(ctx: Context, application: ApplicationRow) -> IntegrationRow:
    """Let an application have its commands in the guild entered, without a bot. The caller declares `ADDING`."""
    return await _integrate(ctx, application, [COMMANDS])


async def remove_integration(ctx: Context, integration_id: IntegrationId) -> None:
    """End an integration of the guild entered: its bot leaves, its webhooks and its role go.

    Raises Refusal: 404/10005; 403/50013 if its bot owns the guild.
    """
    row = await queries.select_integration(ctx.tx, ctx.guild.id, integration_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_INTEGRATION)
    bot = None if row.application_id is None else await get_user(ctx.tx, UserId(row.application_id))
    if bot is not None:
        if bot.id == ctx.guild.owner_id:
            raise Refusal(errors.MISSING_PERMISSIONS)
        if not await remove_member(ctx, ctx.guild.id, bot):
            await retire_bot(ctx, ctx.guild.id, bot.id)
    elif await queries.delete_integration(ctx.tx, ctx.guild.id, row.id):
        if row.application_id is not None:
            await INTEGRATION_DELETED(ctx, ctx.guild.id, row.application_id)
        await ctx.audit(AuditLogEvent.INTEGRATION_DELETE, target=row.id, changes=differences(row, None, _AUDITED))
        application_id = UNSET if row.application_id is None else row.application_id
        ctx.emit(IntegrationDelete(id=row.id, guild_id=ctx.guild.id, application_id=application_id))
        ctx.emit(GuildIntegrationsUpdate(guild_id=ctx.guild.id))


async def leave_every_guild(ctx: Context, bot_id: UserId) -> None:
    """Take a bot out of all its guilds, each in a transaction and under a lock of its own.

    Runs outside a transaction, so that a bot of a thousand guilds holds up none of them.
    """
    for guild_id in await select_guild_ids(ctx.tx, bot_id):
        await unit_of_work.run(ctx.services, ANONYMOUS, partial(_leave, guild_id, bot_id), fires=LEAVING, lock=guild_id)


async def _leave(guild_id: GuildId, bot_id: UserId, ctx: Context) -> None:
    bot = await get_user(ctx.tx, bot_id)
    if bot is not None:
        await ctx.visit_guild(guild_id)
        await remove_member(ctx, guild_id, bot)


async def _own_role(
    ctx: Context, application: ApplicationRow, bot_id: UserId, permissions: PermissionSet
) -> Role | None:
    """The role that carries a bot's permissions, made or changed as need be; None if there is none and need not be."""
    for role in ctx.guild.roles.values():
        if role.managed and role.tags is not UNSET and role.tags.bot_id == bot_id:
            break
    else:
        if not permissions:
            return None
        return await add_role(
            ctx, name=application.name, permissions=permissions, managed=True, tags=RoleTags(bot_id=bot_id)
        )
    after = structs.replace(role, permissions=permissions)
    if after != role:
        await update_role(ctx.tx, ctx.guild.id, role, after)
        await ctx.audit(AuditLogEvent.ROLE_UPDATE, target=role.id, changes=changes_between(role, after))
        ctx.emit(GuildRoleUpdate(guild_id=ctx.guild.id, role=after))
    return after


async def _integrate(ctx: Context, application: ApplicationRow, scopes: Sequence[str]) -> IntegrationRow:
    account = IntegrationAccount(id=str(int(application.id)), name=application.name)
    before = await queries.select_of_application(ctx.tx, ctx.guild.id, application.id)
    if before is None:
        row = IntegrationRow(
            guild_id=ctx.guild.id,
            id=IntegrationId(ctx.ids.next()),
            name=application.name,
            type=BOT,
            enabled=True,
            application_id=application.id,
            user_id=ctx.actor.user_id,
            scopes=list(dict.fromkeys(scopes)),
            account=to_plain(account),
        )
        await queries.insert_integration(ctx.tx, row)
        await ctx.audit(AuditLogEvent.INTEGRATION_CREATE, target=row.id, changes=differences(None, row, _AUDITED))
        ctx.emit(IntegrationCreate(guild_id=ctx.guild.id, integration=await integration_object(ctx.tx, row)))
        ctx.emit(GuildIntegrationsUpdate(guild_id=ctx.guild.id))
        return row
    changes = {
        "name": application.name,
        "scopes": list(dict.fromkeys([*before.scopes, *scopes])),
        "account": to_plain(account),
    }
    row = structs.replace(before, **changes)
    if row != before:
        await queries.update_integration(ctx.tx, row, **changes)
        await ctx.audit(AuditLogEvent.INTEGRATION_UPDATE, target=row.id, changes=differences(before, row, _AUDITED))
        ctx.emit(IntegrationUpdate(guild_id=ctx.guild.id, integration=await integration_object(ctx.tx, row)))
        ctx.emit(GuildIntegrationsUpdate(guild_id=ctx.guild.id))
    return row
