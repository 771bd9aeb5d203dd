"""The compiled form of a rule, and the cache of these."""

from functools import partial
from typing import Final

from moothall.api.context import Context
from moothall.authority.guild_state import GuildState
from moothall.objects.auto_moderation import AutoModerationRule
from moothall.objects.ids import GuildId, RuleId
from moothall.resources.auto_moderation.keywords import KeywordSet, MarkedText, Match
from moothall.resources.auto_moderation.patterns import PatternSet
from moothall.resources.auto_moderation.words import PresetWords
from moothall.runtime.budgets import SERVER
from moothall.runtime.cache import Cache
from moothall.runtime.work_pool import PayerPool, WorkPool

_MAX_RULES: Final = 5_000
_MAX_GUILDS: Final = 10_000


class RuleMatcher:
    """Matches texts against the keywords and patterns of a rule."""

    __slots__ = ("_allowed", "_keywords", "_patterns", "rule")

    def __init__(self, rule: AutoModerationRule, words: PresetWords) -> None:
        metadata = rule.trigger_metadata
        self.rule = rule
        self._keywords = KeywordSet([*(metadata.keyword_filter or ()), *words.of(metadata.presets or [])])
        self._patterns = PatternSet(metadata.regex_patterns or ())
        self._allowed = KeywordSet(metadata.allow_list or ())

    async def first_match(self, text: MarkedText, pool: PayerPool) -> Match | None:
        """The first match in a text that lies outside of what the rule allows. Raises WorkRefused."""
        match = self._keywords.first_match(text)
        if match is None and not self._patterns:
            return None
        if match is None:
            match = await self._patterns.first_match(text.text, pool)
        if match is None:
            return None
        rest = self._allowed.remove_from(text)
        if rest is text:
            return match
        return self._keywords.first_match(rest) or await self._patterns.first_match(rest.text, pool)


class RuleMatchers:
    """The matchers of rules in use. A rule is compiled once for each version of it, in a thread.

    The server pays: the member who made this version of the rule has paid for compiling it, when it was checked.
    """

    def __init__(self, words: PresetWords) -> None:
        self._words = words
        self._by_rule: Cache[RuleId, RuleMatcher] = Cache(_MAX_RULES)
        self._by_guild: Cache[GuildId, tuple[list[AutoModerationRule], list[RuleMatcher]]] = Cache(_MAX_GUILDS)
        """The matchers of a guild, with the list of rules that they are of: a changed rule makes a new list."""

    async def of_guild(self, ctx: Context, state: GuildState) -> list[RuleMatcher]:
        """The matchers of a guild's enabled rules, oldest first."""
        rules = await state.auto_moderation_rules(ctx.tx)
        cached = self._by_guild.get(state.id)
        if cached is None or cached[0] is not rules:
            pool = ctx.services.pools.patterns
            matchers = [await self._matcher(rule, pool) for rule in rules if rule.enabled]
            cached = (rules, matchers)
            self._by_guild.keep(state.id, cached)
        return cached[1]

    async def _matcher(self, rule: AutoModerationRule, pool: WorkPool) -> RuleMatcher:
        cached = self._by_rule.use(rule.id)
        if cached is None or cached.rule != rule:
            cached = await pool.run(SERVER, partial(RuleMatcher, rule, self._words))
            self._by_rule.keep(rule.id, cached)
        return cached
