"""Creating, modifying and deleting auto moderation rules."""

from collections.abc import Collection, Iterable

from msgspec import UNSET, UnsetType, structs

from moothall.api.context import Context
from moothall.api.jobs import enqueue
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.auto_moderation import (
    MODERATES_MEMBERS,
    RULES_MAX,
    Action,
    ActionType,
    AutoModerationRule,
    TriggerType,
)
from moothall.objects.channel import Channel
from moothall.objects.channel_types import MESSAGEABLE
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ChannelId, RoleId, RuleId
from moothall.objects.permissions import Permissions
from moothall.objects.text import clean_name
from moothall.resources.auto_moderation import queries
from moothall.resources.auto_moderation.building import build_actions, build_metadata, rule_audit_changes
from moothall.resources.auto_moderation.events import (
    AutoModerationRuleCreate,
    AutoModerationRuleDelete,
    AutoModerationRuleUpdate,
)
from moothall.resources.auto_moderation.operations.profiles import ReviewQuarantines
from moothall.resources.auto_moderation.patterns import invalid_patterns
from moothall.resources.auto_moderation.requests import (
    CreateAutoModerationRule,
    ModifyAutoModerationRule,
    check_fields,
)


async def get_rule(ctx: Context, rule_id: RuleId) -> AutoModerationRule:
    """A rule of the guild entered. Raises Refusal: 404."""
    for rule in await ctx.guild.auto_moderation_rules(ctx.tx):
        if rule.id == rule_id:
            return rule
    raise Refusal(errors.NOT_FOUND)


async def create_rule(ctx: Context, body: CreateAutoModerationRule) -> AutoModerationRule:
    """Create a rule in the guild entered.

    Raises Refusal: 403/50013 for an action that moderates members without MODERATE_MEMBERS; 50035 at the maximum number
    of rules of the trigger type, for roles and channels that are not the guild's, and for patterns that do not compile.
    """
    kind = body.trigger_type
    rules = await ctx.guild.auto_moderation_rules(ctx.tx)
    rule = AutoModerationRule(
        id=RuleId(ctx.ids.next()),
        guild_id=ctx.guild.id,
        name=clean_name(body.name),
        creator_id=ctx.actor.user_id,
        event_type=int(body.event_type),
        trigger_type=int(kind),
        trigger_metadata=build_metadata(kind, body.trigger_metadata),
        actions=build_actions(kind, body.actions),
        enabled=body.enabled is True,
        exempt_roles=list(body.exempt_roles or ()),
        exempt_channels=list(body.exempt_channels or ()),
    )
    form_errors = FormErrors()
    await _check_rule(ctx, None, rule, form_errors)
    if sum(other.trigger_type == kind for other in rules) >= RULES_MAX[kind]:
        form_errors.add(
            "",
            FormCode.AUTO_MODERATION_MAX_RULES_OF_TYPE_EXCEEDED,
            f"Maximum number of rules with trigger type {int(kind)} is {RULES_MAX[kind]}",
        )
    form_errors.raise_if_any()
    await queries.insert_rule(ctx.tx, rule)
    await ctx.audit(AuditLogEvent.AUTO_MODERATION_RULE_CREATE, target=rule.id, changes=rule_audit_changes(None, rule))
    ctx.emit(AutoModerationRuleCreate(rule=rule))
    return rule


async def modify_rule(ctx: Context, rule_id: RuleId, body: ModifyAutoModerationRule) -> AutoModerationRule:
    """Change a rule; a request that changes nothing emits nothing. Raises Refusal: 404, and as `create_rule`."""
    before = await get_rule(ctx, rule_id)
    form_errors = FormErrors()
    check_fields(body, before.trigger_type, form_errors)
    form_errors.raise_if_any()
    after = _modified(before, body)
    await _check_rule(ctx, before, after, form_errors)
    form_errors.raise_if_any()
    if after != before:
        await _save(ctx, after)
        changes = rule_audit_changes(before, after)
        await ctx.audit(AuditLogEvent.AUTO_MODERATION_RULE_UPDATE, target=after.id, changes=changes)
    return after


def _modified(before: AutoModerationRule, body: ModifyAutoModerationRule) -> AutoModerationRule:
    after = before
    if isinstance(body.name, str):
        after = structs.replace(after, name=clean_name(body.name))
    if body.trigger_metadata is not UNSET:
        metadata = build_metadata(before.trigger_type, body.trigger_metadata, before.trigger_metadata)
        after = structs.replace(after, trigger_metadata=metadata)
    if body.actions is not UNSET:
        after = structs.replace(after, actions=build_actions(before.trigger_type, body.actions))
    if body.enabled is not UNSET:
        after = structs.replace(after, enabled=body.enabled is True)
    if body.exempt_roles is not UNSET:
        after = structs.replace(after, exempt_roles=list(body.exempt_roles or ()))
    if body.exempt_channels is not UNSET:
        after = structs.replace(after, exempt_channels=list(body.exempt_channels or ()))
    return after


async def delete_rule(ctx: Context, rule_id: RuleId) -> None:
    """Delete a rule. Raises Refusal: 404."""
    rule = await get_rule(ctx, rule_id)
    await queries.delete_rule(ctx.tx, ctx.guild.id, rule.id)
    await ctx.audit(AuditLogEvent.AUTO_MODERATION_RULE_DELETE, target=rule.id, changes=rule_audit_changes(rule, None))
    ctx.emit(AutoModerationRuleDelete(rule=rule))
    await _review_quarantines(ctx, rule)


async def remove_role_from_rules(ctx: Context, role_id: RoleId) -> None:
    """Remove a deleted role from the rules that exempt it. Rows that call this declare AutoModerationRuleUpdate."""
    for rule in await ctx.guild.auto_moderation_rules(ctx.tx):
        if role_id in rule.exempt_roles:
            roles = [role for role in rule.exempt_roles if role != role_id]
            await _save(ctx, structs.replace(rule, exempt_roles=roles))


async def remove_channel_from_rules(ctx: Context, channel: Channel) -> None:
    """Remove a deleted channel from the rules that exempt it or send alerts to it.

    A rule without any other action is disabled. Rows that call this declare AutoModerationRuleUpdate.
    """
    for rule in await ctx.guild.auto_moderation_rules(ctx.tx):
        actions = [action for action in rule.actions if action.metadata.channel_id != channel.id]
        channels = [channel_id for channel_id in rule.exempt_channels if channel_id != channel.id]
        enabled = rule.enabled and bool(actions)
        after = structs.replace(
            rule,
            exempt_channels=channels,
            enabled=enabled,
            actions=actions or build_actions(rule.trigger_type, None),
        )
        if after != rule:
            await _save(ctx, after)


async def _save(ctx: Context, after: AutoModerationRule) -> None:
    await queries.update_rule(ctx.tx, after)
    ctx.emit(AutoModerationRuleUpdate(rule=after))
    await _review_quarantines(ctx, after)


async def _review_quarantines(ctx: Context, rule: AutoModerationRule) -> None:
    """Enqueue a review of quarantined members after a member profile rule has changed."""
    if rule.trigger_type == TriggerType.MEMBER_PROFILE:
        await enqueue(ctx, ReviewQuarantines(guild_id=ctx.guild.id))


async def _check_rule(
    ctx: Context, before: AutoModerationRule | None, after: AutoModerationRule, form_errors: FormErrors
) -> None:
    """Check what a rule refers to, where it differs from the version before, and that its patterns compile."""
    if before is None or after.actions != before.actions:
        if any(action.type in MODERATES_MEMBERS for action in after.actions):
            ctx.require(Permissions.MODERATE_MEMBERS)
        await _check_alert_channels(ctx, after.actions, form_errors.at("actions"))
    if before is None or after.exempt_roles != before.exempt_roles:
        _check_listed(after.exempt_roles, ctx.guild.roles, form_errors.at("exempt_roles"))
    if (before is None and after.exempt_channels) or (before and after.exempt_channels != before.exempt_channels):
        _check_listed(after.exempt_channels, await ctx.guild.channels(ctx.tx), form_errors.at("exempt_channels"))
    patterns = after.trigger_metadata.regex_patterns
    if before is None or patterns != before.trigger_metadata.regex_patterns:
        await _check_patterns(ctx, patterns, form_errors.at("trigger_metadata.regex_patterns"))


async def _check_alert_channels(ctx: Context, actions: Iterable[Action], form_errors: FormErrors) -> None:
    for index, action in enumerate(actions):
        channel_id = action.metadata.channel_id
        if action.type != ActionType.SEND_ALERT_MESSAGE or channel_id is UNSET:
            continue
        channel = await ctx.guild.channel(ctx.tx, channel_id)
        if channel is None or channel.type not in MESSAGEABLE:
            form_errors.add(
                [index, "metadata", "channel_id"],
                FormCode.BASE_TYPE_CHOICES,
                "The guild has no such channel for messages.",
            )


def _check_listed(
    ids: Iterable[RoleId | ChannelId], known: Collection[RoleId] | Collection[ChannelId], form_errors: FormErrors
) -> None:
    for index, item in enumerate(ids):
        if item not in known:
            form_errors.add([index], FormCode.BASE_TYPE_CHOICES, "The guild has no such role or channel.")


async def _check_patterns(ctx: Context, patterns: list[str] | UnsetType, form_errors: FormErrors) -> None:
    pool = ctx.services.pools.patterns.for_payer(ctx.payer)
    for index, problem in (await invalid_patterns(patterns or [], pool)).items():
        form_errors.add([index], FormCode.AUTO_MODERATION_INVALID_REGEX, f"Invalid regular expression: {problem}")
