"""Auto moderation rules over HTTP (resources: auto moderation)."""

from moothall.api.context import Context
from moothall.api.endpoint import delete, get, patch, post
from moothall.objects.auto_moderation import AutoModerationRule
from moothall.objects.ids import GuildId, RuleId
from moothall.objects.permissions import Permissions
from moothall.resources.auto_moderation import operations
from moothall.resources.auto_moderation.events import (
    AutoModerationRuleCreate,
    AutoModerationRuleDelete,
    AutoModerationRuleUpdate,
)
from moothall.resources.auto_moderation.requests import CreateAutoModerationRule, ModifyAutoModerationRule

_RULES = "/guilds/{guild_id}/auto-moderation/rules"


@get(_RULES, permission=Permissions.MANAGE_GUILD)
async def list_auto_moderation_rules(ctx: Context, guild_id: GuildId) -> list[AutoModerationRule]:
    """List the auto moderation rules of a guild, oldest first."""
    return await ctx.guild.auto_moderation_rules(ctx.tx)


@get(f"{_RULES}/{{rule_id}}", permission=Permissions.MANAGE_GUILD)
async def get_auto_moderation_rule(ctx: Context, guild_id: GuildId, rule_id: RuleId) -> AutoModerationRule:
    """Get an auto moderation rule."""
    return await operations.get_rule(ctx, rule_id)


@post(_RULES, permission=Permissions.MANAGE_GUILD, audit_reason=True, fires=(AutoModerationRuleCreate,))
async def create_auto_moderation_rule(
    ctx: Context, guild_id: GuildId, body: CreateAutoModerationRule
) -> AutoModerationRule:
    """Create an auto moderation rule. Timeouts and blocked interactions require MODERATE_MEMBERS as well."""
    return await operations.create_rule(ctx, body)


@patch(
    f"{_RULES}/{{rule_id}}",
    permission=Permissions.MANAGE_GUILD,
    audit_reason=True,
    fires=(AutoModerationRuleUpdate,),
)
async def modify_auto_moderation_rule(
    ctx: Context, guild_id: GuildId, rule_id: RuleId, body: ModifyAutoModerationRule
) -> AutoModerationRule:
    """Change an auto moderation rule; its trigger type cannot change."""
    return await operations.modify_rule(ctx, rule_id, body)


@delete(
    f"{_RULES}/{{rule_id}}",
    permission=Permissions.MANAGE_GUILD,
    audit_reason=True,
    fires=(AutoModerationRuleDelete,),
)
async def delete_auto_moderation_rule(ctx: Context, guild_id: GuildId, rule_id: RuleId) -> None:
    """Delete an auto moderation rule."""
    await operations.delete_rule(ctx, rule_id)
