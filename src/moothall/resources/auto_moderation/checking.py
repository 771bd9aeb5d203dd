"""Which rules a member's content triggers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

import msgspec
from msgspec import Struct, structs

from moothall.api.context import Context
from moothall.authority.channel_access import ChannelAccess
from moothall.authority.guild_state import GuildState
from moothall.objects.auto_moderation import ActionType, AutoModerationRule, TriggerType
from moothall.objects.ids import UserId
from moothall.objects.permissions import Permissions
from moothall.resources.auto_moderation.keywords import MarkedText, Match
from moothall.resources.auto_moderation.matcher import RuleMatcher, RuleMatchers
from moothall.resources.auto_moderation.spam import RecentContent, looks_like_spam
from moothall.resources.message.people import Person
from moothall.resources.message.submitted_content import SubmittedContent

NameKind = Literal["username", "display_name", "nickname"]

_BLOCKING: Final = frozenset({ActionType.BLOCK_MESSAGE, ActionType.BLOCK_MEMBER_INTERACTION})
_EXEMPT: Final = Permissions.MANAGE_GUILD | Permissions.ADMINISTRATOR


class Trigger(Struct, frozen=True):
    """A rule that content triggers."""

    rule: AutoModerationRule
    content: str
    """The text that triggers it."""
    match: Match | None = None
    """The keyword or pattern; None for spam and mentions."""
    name: NameKind | None = None
    """The name that triggers a member profile rule."""

    @property
    def blocks(self) -> bool:
        """Whether the rule blocks the content, and not only reports it or times its author out."""
        return any(action.type in _BLOCKING for action in self.rule.actions)


async def triggers_of_content(ctx: Context, content: SubmittedContent) -> list[Trigger]:
    """The rules that a message, an edit or the name of a thread triggers, oldest first."""
    matchers = await ctx.services.resources[RuleMatchers].of_guild(ctx, ctx.guild)
    if not matchers or is_exempt(ctx.guild, content.user_id, ctx.member.role_ids):
        return []
    texts = [MarkedText(text) for text in content.texts]
    places = _places(content.access)
    triggers = []
    for matcher in matchers:
        rule = matcher.rule
        if is_exempt_role(rule, ctx.member.role_ids) or not places.isdisjoint(rule.exempt_channels):
            continue
        trigger = await _trigger_of_content(ctx, matcher, content, texts)
        if trigger is not None:
            triggers.append(trigger)
    return triggers


def is_exempt(state: GuildState, user_id: UserId, role_ids: Iterable[int]) -> bool:
    """Whether no rule applies to a member: the owner, administrators, and holders of MANAGE_GUILD."""
    return bool(state.base_of(user_id, role_ids) & _EXEMPT)


def is_exempt_role(rule: AutoModerationRule, role_ids: Iterable[int]) -> bool:
    """Whether a rule does not apply to members with some roles; all have @everyone."""
    return bool(rule.exempt_roles) and not {int(rule.guild_id), *role_ids}.isdisjoint(rule.exempt_roles)


def _places(access: ChannelAccess) -> set[int]:
    """The channel of the content, for a thread its parent, and the category."""
    channel = access.channel if access.parent is None else access.parent
    parent_id = channel.parent_id if isinstance(channel.parent_id, int) else channel.id
    return {int(access.id), int(channel.id), int(parent_id)}


async def _trigger_of_content(
    ctx: Context, matcher: RuleMatcher, content: SubmittedContent, texts: Sequence[MarkedText]
) -> Trigger | None:
    rule = matcher.rule
    if rule.trigger_type in {TriggerType.KEYWORD, TriggerType.KEYWORD_PRESET}:
        return await first_trigger(ctx, matcher, texts)
    if rule.trigger_type == TriggerType.MEMBER_PROFILE:
        return await _trigger_of_author(ctx, matcher, content)
    is_spam = _is_spam if rule.trigger_type == TriggerType.SPAM else _has_too_many_mentions
    return Trigger(rule, "\n".join(content.texts)) if is_spam(ctx, rule, content) else None


async def first_trigger(ctx: Context, matcher: RuleMatcher, texts: Iterable[MarkedText]) -> Trigger | None:
    """The trigger of a rule by the first of several texts that matches."""
    pool = ctx.services.pools.patterns.for_payer(ctx.payer)
    for text in texts:
        match = await matcher.first_match(text, pool)
        if match is not None:
            return Trigger(matcher.rule, text.text, match)
    return None


async def trigger_of_names(ctx: Context, matcher: RuleMatcher, names: Mapping[NameKind, str | None]) -> Trigger | None:
    """The trigger of a member profile rule by the first of a member's names that matches."""
    for kind, name in names.items():
        trigger = None if name is None else await first_trigger(ctx, matcher, [MarkedText(name)])
        if trigger is not None:
            return structs.replace(trigger, name=kind)
    return None


async def _trigger_of_author(ctx: Context, matcher: RuleMatcher, content: SubmittedContent) -> Trigger | None:
    """The trigger by the names of a message's author, if the rule blocks their interactions."""
    if content.author is None or not any(a.type == ActionType.BLOCK_MEMBER_INTERACTION for a in matcher.rule.actions):
        return None
    return await trigger_of_names(ctx, matcher, _names_of(content.author))


def _is_spam(ctx: Context, rule: AutoModerationRule, content: SubmittedContent) -> bool:
    text = "\n".join(content.texts)
    may_ping = bool(content.access.permissions & Permissions.MENTION_EVERYONE)
    if looks_like_spam(text, may_ping=may_ping):
        return True
    recent = ctx.services.resources[RecentContent]
    return content.is_new and recent.is_repeated(rule.guild_id, content.user_id, content.access.id, text, ctx.now)


def _has_too_many_mentions(ctx: Context, rule: AutoModerationRule, content: SubmittedContent) -> bool:
    metadata = rule.trigger_metadata
    if metadata.mention_total_limit and content.mentions > metadata.mention_total_limit:
        return True
    if not metadata.mention_raid_protection_enabled or not content.is_new:
        return False
    return ctx.services.resources[RecentContent].is_raid(rule.guild_id, content.user_id, content.mentions, ctx.now)


class _UserNames(Struct):
    username: str
    global_name: str | None


class _MemberName(Struct):
    nick: str | None


_decode_user: Final = msgspec.json.Decoder(_UserNames).decode
_decode_member: Final = msgspec.json.Decoder(_MemberName).decode


def _names_of(author: Person) -> dict[NameKind, str | None]:
    user = _decode_user(author.user)
    nick = None if author.member is None else _decode_member(author.member).nick
    return names_of(user.username, user.global_name, nick)


def names_of(username: str, global_name: str | None, nick: str | None) -> dict[NameKind, str | None]:
    """The names that a member profile rule checks."""
    return {"username": username, "display_name": global_name, "nickname": nick}
