"""Names of members that trigger member profile rules: quarantines, and the nicknames that are refused.

A nickname that a rule blocks is refused at once. Everything else follows in a job, so that joining a guild or changing
an account announces nothing of it in the same transaction.
"""

from typing import ClassVar

from msgspec import structs

from moothall.api.context import Context
from moothall.api.jobs import Job, enqueue, job
from moothall.authority.guild_state import GuildState
from moothall.objects import errors
from moothall.objects.auto_moderation import TriggerType
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import GuildId, RoleId, Snowflake, UserId
from moothall.objects.member import MemberFlags
from moothall.resources.auto_moderation import queries
from moothall.resources.auto_moderation.checking import (
    NameKind,
    Trigger,
    is_exempt,
    is_exempt_role,
    names_of,
    trigger_of_names,
)
from moothall.resources.auto_moderation.matcher import RuleMatcher, RuleMatchers
from moothall.resources.auto_moderation.operations.actions import Incident, execute_actions, set_quarantine
from moothall.resources.auto_moderation.operations.content import blocked
from moothall.resources.member.queries import get_member
from moothall.resources.user.queries import select_user
from moothall.storage.rows import MemberRow, UserRow


async def moderate_nickname(ctx: Context, nick: str) -> None:
    """Refuse a nickname that the actor wants in the guild entered, if a rule blocks it.

    Raises RecordedRefusal: 50035 at `nick`.
    """
    triggers = await _triggers(ctx, ctx.guild, ctx.actor.user_id, ctx.member.role_ids, {"nickname": nick})
    if ctx.actor.bot or not any(trigger.blocks for trigger in triggers):
        return
    incident = Incident(user_id=ctx.actor.user_id, triggers=triggers, is_blocked=True)
    form_errors = FormErrors()
    form_errors.add("nick", FormCode.USERNAME_INVALID_CONTAINS, "This nickname was blocked by automatic moderation.")
    raise blocked(ctx, ctx.guild.id, incident, errors.INVALID_FORM_BODY, form_errors=form_errors)


async def review_new_member(ctx: Context, state: GuildState, user_id: UserId) -> None:
    """Enqueue a review of a new member, if the guild has a member profile rule."""
    await _enqueue_review(ctx, state, user_id, "guild_join")


async def review_nickname(ctx: Context, state: GuildState, user_id: UserId) -> None:
    """Enqueue a review of a member with a new nickname, if the guild has a member profile rule."""
    await _enqueue_review(ctx, state, user_id, "username_update")


async def review_user(ctx: Context, row: UserRow) -> None:
    """Enqueue reviews of a user with a changed profile in the guilds that have a member profile rule."""
    guild_ids = await queries.select_profile_guilds(ctx.tx, row.id)
    if guild_ids:
        await enqueue(ctx, ReviewNames(user_id=row.id, guild_ids=guild_ids, event="username_update"))


async def _enqueue_review(ctx: Context, state: GuildState, user_id: UserId, event: str) -> None:
    rules = await state.auto_moderation_rules(ctx.tx)
    if any(rule.enabled and rule.trigger_type == TriggerType.MEMBER_PROFILE for rule in rules):
        await enqueue(ctx, ReviewNames(user_id=user_id, guild_ids=[state.id], event=event))


@job
class ReviewNames(Job, frozen=True, kw_only=True):
    """Checks the names of a user in some guilds: quarantines the member, or ends the quarantine."""

    kind: ClassVar[str] = "review_names"
    user_id: UserId
    guild_ids: list[GuildId]
    event: str
    """What the user did: the `quarantine_event` of alerts."""

    async def step(self, ctx: Context) -> Job | None:
        """Review the member in the first guild."""
        if self.guild_ids:
            await review_member(ctx, self.guild_ids[0], self.user_id, self.event)
        return structs.replace(self, guild_ids=self.guild_ids[1:]) if len(self.guild_ids) > 1 else None


@job
class ReviewQuarantines(Job, frozen=True, kw_only=True):
    """Ends quarantines in a guild that its changed rules no longer call for."""

    kind: ClassVar[str] = "review_quarantines"
    guild_id: GuildId
    after: UserId = UserId(Snowflake(0))
    """The last member that an earlier step has reviewed."""

    async def step(self, ctx: Context) -> Job | None:
        """Review the next quarantined member."""
        user_id = await queries.select_next_quarantined(ctx.tx, self.guild_id, self.after)
        if user_id is None:
            return None
        await review_member(ctx, self.guild_id, user_id, None)
        return structs.replace(self, after=user_id)


async def review_member(ctx: Context, guild_id: GuildId, user_id: UserId, event: str | None) -> None:
    """Execute the actions of the rules that a member's names trigger, or end a quarantine that no rule calls for.

    A member who is quarantined already stays so without further actions. Without an event nothing is executed.
    """
    row = await get_member(ctx.tx, guild_id, user_id)
    user = await select_user(ctx.tx, user_id)
    if row is None or user is None:
        return
    try:
        await ctx.visit_guild(guild_id)
    except Refusal:
        return  # the guild was deleted, and its members are about to be
    role_ids = tuple(RoleId(role) for role in row.roles)
    names = names_of(user.username, user.global_name, row.nick)
    triggers = [] if user.bot else await _triggers(ctx, ctx.guild, user_id, role_ids, names)
    quarantines = any(trigger.blocks for trigger in triggers)
    if not quarantines:
        await _end_quarantine(ctx, row)
    if event is not None and triggers and not row.flags & MemberFlags.AUTOMOD_QUARANTINED_USERNAME:
        incident = Incident(user_id=user_id, triggers=triggers, is_blocked=quarantines, quarantine_event=event)
        await execute_actions(ctx, incident)


async def _end_quarantine(ctx: Context, row: MemberRow) -> None:
    if row.flags & MemberFlags.AUTOMOD_QUARANTINED_USERNAME:
        await set_quarantine(ctx, row, is_quarantined=False)


async def _triggers(
    ctx: Context, state: GuildState, user_id: UserId, role_ids: tuple[RoleId, ...], names: dict[NameKind, str | None]
) -> list[Trigger]:
    """The member profile rules that names of a member trigger."""
    matchers = await ctx.services.resources[RuleMatchers].of_guild(ctx, state)
    if not any(_is_profile_rule(matcher) for matcher in matchers) or is_exempt(state, user_id, role_ids):
        return []
    triggers = [
        await trigger_of_names(ctx, matcher, names)
        for matcher in matchers
        if _is_profile_rule(matcher) and not is_exempt_role(matcher.rule, role_ids)
    ]
    return [trigger for trigger in triggers if trigger is not None]


def _is_profile_rule(matcher: RuleMatcher) -> bool:
    return matcher.rule.trigger_type == TriggerType.MEMBER_PROFILE
