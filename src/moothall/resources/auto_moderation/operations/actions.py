"""Executing the actions of triggered rules: alerts, timeouts and quarantines, each recorded and announced."""

from typing import Final

from msgspec import UNSET, Struct, UnsetType, structs

from moothall.api.context import Context
from moothall.api.hooks import Fires
from moothall.authority.channel_access import ChannelAccess
from moothall.objects.audit_log import AuditLogEntry, AuditLogEvent, AuditLogOptions
from moothall.objects.auto_moderation import Action, ActionType
from moothall.objects.ids import AuditEntryId, ChannelId, MessageId, Snowflake, UserId
from moothall.objects.member import MemberFlags
from moothall.objects.message_types import MessageType
from moothall.objects.wire import Timestamp
from moothall.resources.auto_moderation.alerts import AlertContext, alert_embeds
from moothall.resources.auto_moderation.checking import Trigger
from moothall.resources.auto_moderation.events import AutoModerationActionExecution
from moothall.resources.member.events import GuildMemberUpdate
from moothall.resources.member.queries import get_member, member_object, update_member
from moothall.resources.message.events import MessageCreate
from moothall.resources.message.operations import send_system_message
from moothall.storage.rows import MemberRow

ACTION_EVENTS: Final[Fires] = (AutoModerationActionExecution, MessageCreate, GuildMemberUpdate)
"""The events of `execute_actions`."""

_AUDITED: Final = {
    ActionType.BLOCK_MESSAGE: AuditLogEvent.AUTO_MODERATION_BLOCK_MESSAGE,
    ActionType.SEND_ALERT_MESSAGE: AuditLogEvent.AUTO_MODERATION_FLAG_TO_CHANNEL,
    ActionType.TIMEOUT: AuditLogEvent.AUTO_MODERATION_USER_COMMUNICATION_DISABLED,
    ActionType.BLOCK_MEMBER_INTERACTION: AuditLogEvent.AUTO_MODERATION_QUARANTINE_USER,
}


class Incident(Struct, frozen=True, kw_only=True):
    """Content of a member that has triggered rules of the guild entered."""

    user_id: UserId
    triggers: list[Trigger]
    is_blocked: bool
    channel_id: ChannelId | None = None
    message_id: MessageId | None = None
    """The message, if it is stored."""
    quarantine_event: str | None = None
    """What a member did whose names trigger a member profile rule; None for a profile that is blocked."""


async def execute_actions(ctx: Context, incident: Incident) -> None:
    """Execute every action of the triggered rules. The caller declares `ACTION_EVENTS`."""
    for trigger in incident.triggers:
        for action in trigger.rule.actions:
            alert_id = await _execute(ctx, incident, trigger, action)
            if alert_id is None:
                continue
            await ctx.audit_all([_audit_entry(ctx, incident, trigger, action)])
            ctx.emit(_execution(ctx, incident, trigger, action, alert_id))


async def _execute(ctx: Context, incident: Incident, trigger: Trigger, action: Action) -> MessageId | UnsetType | None:
    """Execute an action; the id of an alert, None if it was not possible, UNSET otherwise."""
    if action.type == ActionType.SEND_ALERT_MESSAGE:
        return await _send_alert(ctx, incident, trigger, action)
    if action.type == ActionType.TIMEOUT:
        return UNSET if await _time_out(ctx, incident.user_id, action.metadata.duration_seconds or 0) else None
    if action.type == ActionType.BLOCK_MEMBER_INTERACTION and incident.quarantine_event is not None:
        return UNSET if await _quarantine(ctx, incident.user_id) else None
    return UNSET


async def _send_alert(ctx: Context, incident: Incident, trigger: Trigger, action: Action) -> MessageId | None:
    if action.metadata.channel_id is UNSET:
        return None
    channel = await ctx.guild.channel(ctx.tx, action.metadata.channel_id)
    if channel is None:
        return None
    context = AlertContext(
        channel_id=incident.channel_id,
        message_id=incident.message_id,
        is_blocked=incident.is_blocked,
        quarantine_event=incident.quarantine_event,
    )
    access = ChannelAccess(channel=channel, permissions=0, guild=ctx.guild)
    embeds = alert_embeds(trigger, context)
    return await send_system_message(ctx, access, incident.user_id, MessageType.AUTO_MODERATION_ACTION, embeds=embeds)


async def _time_out(ctx: Context, user_id: UserId, seconds: int) -> bool:
    """Time a member out, unless they are for longer already; False if the user is no member."""
    row = await get_member(ctx.tx, ctx.guild.id, user_id)
    if row is None:
        return False
    until = Timestamp(ctx.now + seconds * 1000)
    if seconds and until > (row.communication_disabled_until or 0):
        await update_member(ctx.tx, ctx.guild.id, user_id, communication_disabled_until=until)
        after = structs.replace(row, communication_disabled_until=until)
        ctx.emit(GuildMemberUpdate(guild_id=ctx.guild.id, member=await member_object(ctx.tx, after)))
    return True


async def _quarantine(ctx: Context, user_id: UserId) -> bool:
    """Quarantine a member for a name; False if the user is no member."""
    row = await get_member(ctx.tx, ctx.guild.id, user_id)
    if row is None:
        return False
    await set_quarantine(ctx, row, is_quarantined=True)
    return True


async def set_quarantine(ctx: Context, row: MemberRow, *, is_quarantined: bool) -> None:
    """Quarantine a member for a name, or end that. The caller declares GuildMemberUpdate."""
    others = row.flags & ~MemberFlags.AUTOMOD_QUARANTINED_USERNAME
    flags = others | MemberFlags.AUTOMOD_QUARANTINED_USERNAME if is_quarantined else others
    if flags != row.flags:
        await update_member(ctx.tx, row.guild_id, row.user_id, flags=flags)
        after = structs.replace(row, flags=flags)
        ctx.emit(GuildMemberUpdate(guild_id=row.guild_id, member=await member_object(ctx.tx, after)))


def _audit_entry(ctx: Context, incident: Incident, trigger: Trigger, action: Action) -> AuditLogEntry:
    channel_id = incident.channel_id
    return AuditLogEntry(
        id=AuditEntryId(ctx.ids.next()),
        user_id=incident.user_id,
        target_id=str(int(incident.user_id)),
        action_type=_AUDITED[ActionType(action.type)],
        options=AuditLogOptions(
            auto_moderation_rule_name=trigger.rule.name,
            auto_moderation_rule_trigger_type=str(trigger.rule.trigger_type),
            channel_id=UNSET if channel_id is None else Snowflake(channel_id),
        ),
    )


def _execution(
    ctx: Context, incident: Incident, trigger: Trigger, action: Action, alert_id: MessageId | UnsetType
) -> AutoModerationActionExecution:
    return AutoModerationActionExecution(
        guild_id=ctx.guild.id,
        action=action,
        rule_id=trigger.rule.id,
        rule_trigger_type=trigger.rule.trigger_type,
        user_id=incident.user_id,
        channel_id=UNSET if incident.channel_id is None else incident.channel_id,
        message_id=UNSET if incident.message_id is None else incident.message_id,
        alert_system_message_id=alert_id,
        content=trigger.content,
        matched_keyword=None if trigger.match is None else trigger.match.keyword,
        matched_content=None if trigger.match is None else trigger.match.content,
    )
