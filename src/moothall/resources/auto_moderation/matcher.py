"""The compiled form of a rule, and the cache of these."""

import asyncio
from collections import OrderedDict
from typing import Final

from moothall.kernel.guild_state import GuildState, once_per_version
from moothall.objects.auto_moderation import AutoModerationRule
from moothall.objects.ids import RuleId
from moothall.resources.auto_moderation.keywords import KeywordSet, MarkedText, Match
from moothall.resources.auto_moderation.patterns import PatternSet
from moothall.resources.auto_moderation.words import PresetWords
from moothall.storage.database import Reader

_MAX_RULES: Final = 5_000


class RuleMatcher:
    """Matches texts against the keywords and patterns of a rule."""

    __slots__ = ("_allowed", "_keywords", "_patterns", "rule")

    def __init__(self, rule: AutoModerationRule, words: PresetWords) -> None:
        metadata = rule.trigger_metadata
        self.rule = rule
        self._keywords = KeywordSet([*(metadata.keyword_filter or ()), *words.of(metadata.presets or [])])
        self._patterns = PatternSet(metadata.regex_patterns or ())
        self._allowed = KeywordSet(metadata.allow_list or ())

    async def first_match(self, text: MarkedText) -> Match | None:
        """The first match in a text that lies outside of what the rule allows."""
        match = self._keywords.first_match(text)
        if match is None and not self._patterns:
            return None
        if match is None:
            match = await self._patterns.first_match(text.text)
        if match is None:
            return None
        rest = self._allowed.remove_from(text)
        if rest is text:
            return match
        return self._keywords.first_match(rest) or await self._patterns.first_match(rest.text)


class _GuildMatchers:
    """The matchers of the enabled rules of one version of a guild."""

    __slots__ = ("matchers",)

    def __init__(self) -> None:
        self.matchers: list[RuleMatcher] | None = None
        """None until they are compiled."""


@once_per_version
def _guild_matchers(state: GuildState) -> _GuildMatchers:
    del state
    return _GuildMatchers()


class RuleMatchers:
    """The matchers of rules in use. A rule is compiled once for each version of it, in a thread."""

    def __init__(self, words: PresetWords) -> None:
        self._words = words
        self._by_rule: OrderedDict[RuleId, RuleMatcher] = OrderedDict()

    async def of_guild(self, state: GuildState, reader: Reader) -> list[RuleMatcher]:
        """The matchers of a guild's enabled rules, oldest first."""
        compiled = _guild_matchers(state)
        if compiled.matchers is None:
            rules = await state.auto_moderation_rules(reader)
            compiled.matchers = [await self._matcher(rule) for rule in rules if rule.enabled]
        return compiled.matchers

    async def _matcher(self, rule: AutoModerationRule) -> RuleMatcher:
        cached = self._by_rule.get(rule.id)
        if cached is None or cached.rule != rule:
            cached = self._by_rule[rule.id] = await asyncio.to_thread(RuleMatcher, rule, self._words)
            if len(self._by_rule) > _MAX_RULES:
                self._by_rule.popitem(last=False)
        self._by_rule.move_to_end(rule.id)
        return cached
