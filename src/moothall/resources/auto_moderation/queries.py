"""SQL of auto moderation rules."""

from moothall.objects.auto_moderation import AutoModerationRule, TriggerType
from moothall.objects.ids import GuildId, RuleId, Snowflake, UserId
from moothall.objects.wire import to_plain
from moothall.storage.database import Query, Reader, Transaction, update_columns
from moothall.storage.sql import bindparam, delete, insert, literal_column, select
from moothall.storage.tables import auto_moderation_rules, members

_insert_rule = Query(lambda: insert(auto_moderation_rules))
_delete_rule = Query(
    lambda: delete(auto_moderation_rules).where(
        auto_moderation_rules.c.guild_id == bindparam("guild_id"), auto_moderation_rules.c.id == bindparam("rule_id")
    )
)

_select_profile_guilds = Query(
    lambda: (
        select(members.c.guild_id)
        .select_from(members.join(auto_moderation_rules, auto_moderation_rules.c.guild_id == members.c.guild_id))
        .where(
            members.c.user_id == bindparam("user_id"),
            auto_moderation_rules.c.trigger_type == int(TriggerType.MEMBER_PROFILE),
            auto_moderation_rules.c.enabled,
        )
        .distinct()
    )
)
_select_quarantined = Query(
    lambda: (
        select(members.c.user_id)
        .where(
            members.c.guild_id == bindparam("guild_id"),
            members.c.user_id > bindparam("after"),
            # Literals, as the partial index has them.
            members.c.flags.bitwise_and(literal_column("1152")) != literal_column("0"),
        )
        .order_by(members.c.user_id)
        .limit(1)
    )
)


async def insert_rule(tx: Transaction, rule: AutoModerationRule) -> None:
    """Store a new rule."""
    await tx.execute(
        _insert_rule,
        guild_id=rule.guild_id,
        id=rule.id,
        creator_id=rule.creator_id,
        trigger_type=rule.trigger_type,
        **_columns(rule),
    )


async def update_rule(tx: Transaction, rule: AutoModerationRule) -> None:
    """Update everything that can change of a rule."""
    columns = _columns(rule)
    query = update_columns(auto_moderation_rules, key=("guild_id", "id"), columns=frozenset(columns))
    await tx.execute(query, guild_id=rule.guild_id, id=rule.id, **columns)


async def delete_rule(tx: Transaction, guild_id: GuildId, rule_id: RuleId) -> None:
    """Delete a rule."""
    await tx.execute(_delete_rule, guild_id=guild_id, rule_id=rule_id)


async def select_profile_guilds(reader: Reader, user_id: UserId) -> list[GuildId]:
    """The guilds of a user that have an enabled member profile rule."""
    return [GuildId(Snowflake(row[0])) for row in await reader.all(_select_profile_guilds, user_id=user_id)]


async def select_next_quarantined(reader: Reader, guild_id: GuildId, after: UserId) -> UserId | None:
    """The next quarantined member of a guild by ascending user id; None if there is none."""
    user_id = await reader.scalar(_select_quarantined, guild_id=guild_id, after=after)
    return None if user_id is None else UserId(Snowflake(user_id))


def _columns(rule: AutoModerationRule) -> dict[str, object]:
    return {
        "name": rule.name,
        "event_type": rule.event_type,
        "trigger_metadata": to_plain(rule.trigger_metadata),
        "actions": to_plain(rule.actions),
        "enabled": rule.enabled,
        "exempt_roles": rule.exempt_roles,
        "exempt_channels": rule.exempt_channels,
    }
