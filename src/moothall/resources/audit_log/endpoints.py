"""The audit log over HTTP (resources: audit log)."""

from collections.abc import Iterable
from typing import Annotated, Final

from msgspec import Meta

from moothall.api.context import Context
from moothall.api.endpoint import get
from moothall.objects import limits
from moothall.objects.audit_log import AuditLog, AuditLogEvent
from moothall.objects.auto_moderation import AutoModerationRule
from moothall.objects.channel import Channel
from moothall.objects.channel_types import ChannelType
from moothall.objects.command import Command
from moothall.objects.ids import GuildId, Snowflake, UserId
from moothall.objects.permissions import Permissions
from moothall.objects.scheduled_event import ScheduledEvent
from moothall.resources.audit_log import queries
from moothall.resources.audit_log.queries import EntryRow
from moothall.resources.interaction.command.objects import command_object
from moothall.resources.interaction.command.queries import GLOBAL_SCOPE, select_commands_by_ids
from moothall.resources.scheduled_event.access import can_view_event
from moothall.resources.scheduled_event.queries import event_object, select_events
from moothall.resources.user.queries import get_users
from moothall.storage.bulk import map_items
from moothall.storage.rows import channel_from_row

_E = AuditLogEvent
_USER_ACTIONS: Final = frozenset(
    {
        _E.MEMBER_KICK,
        _E.MEMBER_BAN_ADD,
        _E.MEMBER_BAN_REMOVE,
        _E.MEMBER_UPDATE,
        _E.MEMBER_ROLE_UPDATE,
        _E.BOT_ADD,
        _E.MESSAGE_DELETE,
        _E.MESSAGE_PIN,
        _E.MESSAGE_UNPIN,
        _E.AUTO_MODERATION_BLOCK_MESSAGE,
        _E.AUTO_MODERATION_FLAG_TO_CHANNEL,
        _E.AUTO_MODERATION_USER_COMMUNICATION_DISABLED,
        _E.AUTO_MODERATION_QUARANTINE_USER,
    }
)
_WEBHOOK_ACTIONS: Final = frozenset({_E.WEBHOOK_CREATE, _E.WEBHOOK_UPDATE, _E.WEBHOOK_DELETE})
_INTEGRATION_ACTIONS: Final = frozenset({_E.INTEGRATION_CREATE, _E.INTEGRATION_UPDATE, _E.INTEGRATION_DELETE})
_EVENT_ACTIONS: Final = frozenset(
    {
        _E.GUILD_SCHEDULED_EVENT_CREATE,
        _E.GUILD_SCHEDULED_EVENT_UPDATE,
        _E.GUILD_SCHEDULED_EVENT_DELETE,
        _E.GUILD_SCHEDULED_EVENT_EXCEPTION_CREATE,
        _E.GUILD_SCHEDULED_EVENT_EXCEPTION_UPDATE,
        _E.GUILD_SCHEDULED_EVENT_EXCEPTION_DELETE,
    }
)
_RULE_ACTIONS: Final = frozenset({_E.AUTO_MODERATION_RULE_CREATE, _E.AUTO_MODERATION_RULE_UPDATE})
_COMMAND_ACTIONS: Final = frozenset({_E.APPLICATION_COMMAND_PERMISSION_UPDATE})
_THREAD_ACTIONS: Final = frozenset({_E.THREAD_CREATE, _E.THREAD_UPDATE, _E.THREAD_DELETE})


@get("/guilds/{guild_id}/audit-logs", permission=Permissions.VIEW_AUDIT_LOG)
async def get_guild_audit_log(
    ctx: Context,
    guild_id: GuildId,
    *,
    user_id: UserId | None = None,
    target_id: Snowflake | None = None,
    action_type: int | None = None,
    before: Snowflake | None = None,
    after: Snowflake | None = None,
    limit: Annotated[int, Meta(ge=1, le=limits.AUDIT_LOG_LIST_MAX)] = limits.AUDIT_LOG_LIST_DEFAULT,
) -> AuditLog:
    """List audit log entries: newest first, but oldest first with only `after`."""
    entries = await queries.select_entries(
        ctx.tx,
        guild_id,
        maximum=limit,
        before=before,
        after=after,
        user_id=user_id,
        target_id=target_id,
        action_type=action_type,
    )
    webhooks = await queries.select_webhooks(ctx.tx, guild_id, _target_ids(entries, _WEBHOOK_ACTIONS))
    integrations = await queries.select_integrations(ctx.tx, guild_id, _target_ids(entries, _INTEGRATION_ACTIONS))
    user_ids = {entry.user_id for entry in entries if entry.user_id is not None}
    user_ids.update(UserId(target) for target in _target_ids(entries, _USER_ACTIONS))
    creator_ids = {webhook.user_id for webhook in webhooks if webhook.user_id is not None}
    users = await get_users(ctx.tx, user_ids | creator_ids)
    shown = await map_items(ctx.tx, queries.entry_object, entries)
    return AuditLog(
        audit_log_entries=shown,
        users=[users[user] for user in sorted(user_ids) if user in users],
        webhooks=[
            queries.webhook_object(webhook, None if webhook.user_id is None else users.get(webhook.user_id))
            for webhook in webhooks
        ],
        threads=await _threads(ctx, guild_id, _target_ids(entries, _THREAD_ACTIONS)),
        integrations=[queries.integration_object(integration) for integration in integrations],
        auto_moderation_rules=await _rules(ctx, _target_ids(entries, _RULE_ACTIONS)),
        application_commands=await _commands(ctx, guild_id, _target_ids(entries, _COMMAND_ACTIONS)),
        guild_scheduled_events=await _events(ctx, guild_id, _target_ids(entries, _EVENT_ACTIONS)),
    )


def _target_ids(entries: Iterable[EntryRow], actions: frozenset[AuditLogEvent]) -> set[Snowflake]:
    return {entry.target_id for entry in entries if entry.target_id is not None and entry.action_type in actions}


async def _events(ctx: Context, guild_id: GuildId, ids: set[Snowflake]) -> list[ScheduledEvent]:
    """The events with these ids that the caller can see."""
    return [event_object(row) for row in await select_events(ctx.tx, guild_id, ids) if await can_view_event(ctx, row)]


async def _rules(ctx: Context, ids: set[Snowflake]) -> list[AutoModerationRule]:
    """The auto moderation rules with these ids that still exist."""
    return [rule for rule in await ctx.guild.auto_moderation_rules(ctx.tx) if rule.id in ids] if ids else []


async def _commands(ctx: Context, guild_id: GuildId, ids: set[Snowflake]) -> list[Command]:
    """The guild and global commands with these ids."""
    rows = await select_commands_by_ids(ctx.tx, ids)
    return [command_object(row) for row in rows if row.guild_id in {GLOBAL_SCOPE, guild_id}]


async def _threads(ctx: Context, guild_id: GuildId, ids: set[Snowflake]) -> list[Channel]:
    """The threads with these ids that the caller can view."""
    visible = []
    for row in await queries.select_threads(ctx.tx, guild_id, ids):
        parent = None if row.parent_id is None else await ctx.guild.channel(ctx.tx, row.parent_id)
        needed = int(Permissions.VIEW_CHANNEL)
        if row.type == ChannelType.PRIVATE_THREAD:
            needed |= Permissions.MANAGE_THREADS
        if parent is not None and ctx.member.permissions_in(parent, thread=True) & needed == needed:
            visible.append(channel_from_row(row))
    return visible
