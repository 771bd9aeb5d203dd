"""Whether a member matches a search, and where they are in its order. Pure."""

from collections.abc import Callable, Iterator
from typing import Final

from moothall.objects.member import MemberFlags
from moothall.objects.text import search_key
from moothall.objects.user import UserFlags
from moothall.resources.guild.membership.search.queries import SearchedMember
from moothall.resources.guild.membership.search.requests import MemberFilter, Position, Range, SearchMembers

Condition = Callable[[SearchedMember], bool]
SortKey = tuple[int, int]

_BY_JOINING: Final = frozenset({1, 2})
_DESCENDING: Final = frozenset({1, 3})
_UNKNOWN_SOURCE: Final = 0


def sort_key_of(sort: int) -> Callable[[int, int], SortKey]:
    """From a moment of joining and a user id to what a sort type sorts by, ascending."""
    sign = -1 if sort in _DESCENDING else 1
    if sort in _BY_JOINING:
        return lambda joined_at, user_id: (sign * joined_at, sign * user_id)
    return lambda joined_at, user_id: (sign * user_id, 0)  # noqa: ARG005 the same signature


def key_of_position(position: Position, sort: int) -> SortKey:
    """What a sort type sorts the member of a position by."""
    return sort_key_of(sort)(position.guild_joined_at, position.user_id)


def matcher_of(search: SearchMembers) -> Condition:
    """Whether a member matches: every condition of `and_query`, and any of `or_query` unless it has none."""
    every = list(_conditions(search.and_query))
    some = list(_conditions(search.or_query))

    def matches(member: SearchedMember) -> bool:
        return all(each(member) for each in every) and (not some or any(each(member) for each in some))

    return matches


def _conditions(conditions: MemberFilter | None) -> Iterator[Condition]:
    if conditions is None:
        return
    yield from _of_user(conditions)
    if conditions.role_ids is not None:
        if conditions.role_ids.or_query:
            some = frozenset(map(int, conditions.role_ids.or_query))
            yield lambda member: not some.isdisjoint(member.roles)
        if conditions.role_ids.and_query:
            every = frozenset(map(int, conditions.role_ids.and_query))
            yield lambda member: every.issubset(member.roles)
    if conditions.guild_joined_at is not None and (joined := conditions.guild_joined_at.range) is not None:
        yield lambda member: _within(member.joined_at, joined)
    if (pending := conditions.is_pending) is not None:
        yield lambda member: member.pending is pending
    if (rejoined := conditions.did_rejoin) is not None:
        yield lambda member: bool(member.flags & MemberFlags.DID_REJOIN) is rejoined
    if conditions.join_source_type is not None and conditions.join_source_type.or_query:
        known = _UNKNOWN_SOURCE in conditions.join_source_type.or_query
        yield lambda _: known
    if conditions.source_invite_code is not None and conditions.source_invite_code.or_query:
        yield lambda _: False
    yield from _of_signals(conditions)


def _of_user(conditions: MemberFilter) -> Iterator[Condition]:
    if conditions.user_id is not None:
        if conditions.user_id.or_query:
            ids = frozenset(map(int, conditions.user_id.or_query))
            yield lambda member: member.user_id in ids
        if (bounds := conditions.user_id.range) is not None:
            ends = Range(gte=bounds.gte, lte=bounds.lte)
            yield lambda member: _within(member.user_id, ends)
    if conditions.usernames is not None and conditions.usernames.or_query:
        keys = [key for text in conditions.usernames.or_query if (key := search_key(text))]
        yield lambda member: _has_name(member, keys)


def _of_signals(conditions: MemberFilter) -> Iterator[Condition]:
    signals = conditions.safety_signals
    if signals is None:
        return
    if signals.communication_disabled_until is not None:
        until = signals.communication_disabled_until.range
        if until is not None:
            yield lambda member: _within(member.communication_disabled_until, until)
    if signals.unusual_dm_activity_until is not None and signals.unusual_dm_activity_until.range is not None:
        yield lambda _: False
    if (spammer := signals.unusual_account_activity) is not None:
        yield lambda member: bool(member.public_flags & UserFlags.SPAMMER) is spammer
    if (quarantined := signals.automod_quarantined_username) is not None:
        yield lambda member: bool(member.flags & MemberFlags.AUTOMOD_QUARANTINED_USERNAME) is quarantined


def _within(value: int | None, bounds: Range) -> bool:
    if value is None or (bounds.gte is not None and value < bounds.gte):
        return False
    return bounds.lte is None or value <= bounds.lte


def _has_name(member: SearchedMember, keys: list[str]) -> bool:
    names = [member.username_key, member.nick_key or "", search_key(member.global_name or "")]
    return any(key in name for key in keys for name in names)
