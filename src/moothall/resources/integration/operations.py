"""Integration operations: adding an application's bot or commands to a guild, and removing them."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from msgspec import UNSET, structs

from moothall.api import unit_of_work
from moothall.api.audit import differences
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
from moothall.api.hooks import Fires, Hook
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.errors import Refusal
from moothall.objects.ids import ApplicationId, GuildId, IntegrationId, Snowflake, UserId
from moothall.objects.integration import BOT, IntegrationAccount
from moothall.objects.permissions import PermissionSet
from moothall.objects.role import Role, RoleTags
from moothall.objects.scopes import COMMANDS
from moothall.objects.wire import to_plain
from moothall.resources.application.queries import ApplicationRow
from moothall.resources.guild.membership.operations import BOT_JOIN_EVENTS, LEAVE_EVENTS, join_guild, remove_member
from moothall.resources.guild.role.events import GuildRoleCreate, GuildRoleUpdate
from moothall.resources.guild.role.operations import ROLE_DELETE_EVENTS, add_role, remove_role
from moothall.resources.guild.role.queries import update_role
from moothall.resources.guild.role.rules import role_audit_changes
from moothall.resources.integration import queries
from moothall.resources.integration.events import (
    GuildIntegrationsUpdate,
    IntegrationCreate,
    IntegrationDelete,
    IntegrationUpdate,
)
from moothall.resources.integration.objects import integration_object
from moothall.resources.integration.queries import IntegrationRow
from moothall.resources.member.events import GuildMemberUpdate
from moothall.resources.member.queries import get_member, member_object, select_guild_ids, update_member
from moothall.resources.user.queries import get_user, select_user
from moothall.resources.webhook.operations import DELETE_WEBHOOK_EVENTS, delete_webhooks_of_bot

INTEGRATION_DELETED: Final = Hook[[Context, GuildId, ApplicationId], None]("integration deleted")
"""Called with the guild's and the application's id when an application's integration is deleted."""
ADD_BOT_EVENTS: Final[Fires] = (
    *BOT_JOIN_EVENTS,
    GuildRoleCreate,
    GuildRoleUpdate,
    GuildMemberUpdate,
    IntegrationCreate,
    IntegrationUpdate,
    GuildIntegrationsUpdate,
)
"""The events of `add_bot`, which every row that calls it declares."""
REMOVE_INTEGRATION_EVENTS: Final[Fires] = (*LEAVE_EVENTS, INTEGRATION_DELETED)
"""The events of `remove_integration`, which every row that calls it declares."""
BOT_REMOVED_EVENTS: Final[Fires] = (
    *ROLE_DELETE_EVENTS,
    *DELETE_WEBHOOK_EVENTS,
    IntegrationDelete,
    GuildIntegrationsUpdate,
    INTEGRATION_DELETED,
)
"""The events of `remove_integrations_of_bot`."""

_AUDITED: Final = ("name", "type", "scopes")


async def add_bot(
    ctx: Context, application: ApplicationRow, *, permissions: PermissionSet, scopes: Sequence[str]
) -> IntegrationRow:
    """Add an application's bot to the guild entered, with a managed role that has the requested permissions.

    No role is created for no permissions. If the bot is a member already, its role's permissions become the requested
    ones; what does not change is not announced. The caller checks whether the actor may grant the permissions, has
    locked the application and declares `ADD_BOT_EVENTS`. Raises Refusal: 404/10013 for an application without a bot,
    and what `join_guild` and `add_role` raise.
    """
    bot_id = UserId(application.id) if application.bot_user_id is None else application.bot_user_id
    bot = await select_user(ctx.tx, bot_id)
    if bot is None or not bot.bot or bot.deleted:
        raise Refusal(errors.UNKNOWN_USER)
    member = await get_member(ctx.tx, ctx.guild.id, bot_id)
    role = await _save_bot_role(ctx, application, bot_id, permissions)
    if member is None:
        await join_guild(ctx, ctx.guild, bot, roles=() if role is None else (role.id,))
        await ctx.audit(AuditLogEvent.BOT_ADD, target=bot_id)
    elif role is not None and role.id not in member.roles:
        member = structs.replace(member, roles=[*member.roles, Snowflake(role.id)])
        await update_member(ctx.tx, ctx.guild.id, bot_id, roles=member.roles)
        ctx.emit(GuildMemberUpdate(guild_id=ctx.guild.id, member=await member_object(ctx.tx, member)))
    return await _save_integration(ctx, application, scopes)


async def install_commands(ctx: Context, application: ApplicationRow) -> IntegrationRow:
    """Add an application's commands, but no bot, to the guild entered. The caller declares `ADD_BOT_EVENTS`."""
    return await _save_integration(ctx, application, [COMMANDS])


async def remove_integration(ctx: Context, integration_id: IntegrationId) -> None:
    """Delete an integration of the guild entered: its bot is removed, its webhooks and managed role are deleted.

    Raises Refusal: 404/10005; 403/50013 if the bot owns the guild.
    """
    row = await queries.select_integration(ctx.tx, ctx.guild.id, integration_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_INTEGRATION)
    bot = None if row.application_id is None else await get_user(ctx.tx, UserId(row.application_id))
    if bot is not None:
        if bot.id == ctx.guild.owner_id:
            raise Refusal(errors.MISSING_PERMISSIONS)
        if not await remove_member(ctx, ctx.guild.id, bot):
            await remove_integrations_of_bot(ctx, ctx.guild.id, bot.id)
    elif await queries.delete_integration(ctx.tx, ctx.guild.id, row.id):
        if row.application_id is not None:
            await INTEGRATION_DELETED(ctx, ctx.guild.id, row.application_id)
        await ctx.audit(AuditLogEvent.INTEGRATION_DELETE, target=row.id, changes=differences(row, None, _AUDITED))
        application_id = UNSET if row.application_id is None else row.application_id
        ctx.emit(IntegrationDelete(id=row.id, guild_id=ctx.guild.id, application_id=application_id))
        ctx.emit(GuildIntegrationsUpdate(guild_id=ctx.guild.id))


async def remove_integrations_of_bot(ctx: Context, guild_id: GuildId, bot_id: UserId) -> None:
    """Delete a bot's integrations, managed roles and webhooks in a guild. A second call changes nothing."""
    if not ctx.in_guild or ctx.guild.id != guild_id:
        await ctx.visit_guild(guild_id)
    for role in [r for r in ctx.guild.roles.values() if r.managed and r.tags is not UNSET and r.tags.bot_id == bot_id]:
        await remove_role(ctx, role)
    await delete_webhooks_of_bot(ctx, guild_id, bot_id)
    deleted = False
    for row in await queries.select_of_bot(ctx.tx, guild_id, bot_id):
        if row.application_id is not None:
            await INTEGRATION_DELETED(ctx, guild_id, row.application_id)
        if await queries.delete_integration(ctx.tx, guild_id, row.id):
            deleted = True
            changes = differences(row, None, ("name", "type"))
            await ctx.audit(AuditLogEvent.INTEGRATION_DELETE, target=row.id, changes=changes, guild_id=guild_id)
            application_id = UNSET if row.application_id is None else row.application_id
            ctx.emit(IntegrationDelete(id=row.id, guild_id=guild_id, application_id=application_id))
    if deleted:
        ctx.emit(GuildIntegrationsUpdate(guild_id=guild_id))


async def remove_bot_from_guilds(ctx: Context, bot_id: UserId) -> None:
    """Remove a bot from all of its guilds, each in a transaction and under a lock of its own.

    Runs outside the caller's transaction, so that a bot in a thousand guilds blocks none of them for long.
    """
    for guild_id in await select_guild_ids(ctx.tx, bot_id):
        work = partial(_remove_bot, guild_id, bot_id)
        await unit_of_work.run(ctx.services, ANONYMOUS, work, fires=LEAVE_EVENTS, lock=guild_id)


async def _remove_bot(guild_id: GuildId, bot_id: UserId, ctx: Context) -> None:
    bot = await get_user(ctx.tx, bot_id)
    if bot is not None:
        await ctx.visit_guild(guild_id)
        await remove_member(ctx, guild_id, bot)


async def _save_bot_role(
    ctx: Context, application: ApplicationRow, bot_id: UserId, permissions: PermissionSet
) -> Role | None:
    """Create or update the managed role of a bot; None if it has none and `permissions` is empty."""
    role = next((role for role in ctx.guild.roles.values() if _is_role_of(role, bot_id)), None)
    if role is None:
        if not permissions:
            return None
        return await add_role(
            ctx, name=application.name, permissions=permissions, managed=True, tags=RoleTags(bot_id=bot_id)
        )
    after = structs.replace(role, permissions=permissions)
    if after != role:
        await update_role(ctx.tx, ctx.guild.id, role, after)
        await ctx.audit(AuditLogEvent.ROLE_UPDATE, target=role.id, changes=role_audit_changes(role, after))
        ctx.emit(GuildRoleUpdate(guild_id=ctx.guild.id, role=after))
    return after


def _is_role_of(role: Role, bot_id: UserId) -> bool:
    return role.managed and role.tags is not UNSET and role.tags.bot_id == bot_id


async def _save_integration(ctx: Context, application: ApplicationRow, scopes: Sequence[str]) -> IntegrationRow:
    """Insert the integration of an application, or add scopes to it and update its name."""
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
