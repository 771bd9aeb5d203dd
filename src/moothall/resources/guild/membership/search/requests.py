"""The body and the response of Search Guild Members."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.ids import GuildId, RoleId, Snowflake, UserId
from moothall.objects.member import Member

_Values = Meta(max_length=limits.MEMBER_QUERY_VALUES)
Text = Annotated[str, Meta(min_length=1, max_length=100)]


class Range(Struct, frozen=True, kw_only=True):
    """A range of moments, in milliseconds since the Unix epoch, with its ends."""

    gte: int | None = None
    lte: int | None = None


class IdRange(Struct, frozen=True, kw_only=True):
    """A range of ids with its ends."""

    gte: Snowflake | None = None
    lte: Snowflake | None = None


class UserQuery(Struct, frozen=True, kw_only=True):
    """Members with one of several ids, and with an id in a range."""

    or_query: Annotated[list[UserId], _Values] | None = None
    range: IdRange | None = None


class NameQuery(Struct, frozen=True, kw_only=True):
    """Members whose username, display name or nickname contains one of several texts."""

    or_query: Annotated[list[Text], _Values] | None = None


class RoleQuery(Struct, frozen=True, kw_only=True):
    """Members with one of several roles, and with each of several."""

    or_query: Annotated[list[RoleId], _Values] | None = None
    and_query: Annotated[list[RoleId], _Values] | None = None


class MomentQuery(Struct, frozen=True, kw_only=True):
    """Members with a moment in a range."""

    range: Range | None = None


class NumberQuery(Struct, frozen=True, kw_only=True):
    """Members with one of several numbers."""

    or_query: Annotated[list[int], _Values] | None = None


class SafetySignals(Struct, frozen=True, kw_only=True):
    """What makes members conspicuous. Unusual activity is not recorded here."""

    unusual_dm_activity_until: MomentQuery | None = None
    communication_disabled_until: MomentQuery | None = None
    unusual_account_activity: bool | None = None
    automod_quarantined_username: bool | None = None


class MemberFilter(Struct, frozen=True, kw_only=True):
    """Conditions on members. How members joined is not known: their source is 0, and they have no invite code."""

    user_id: UserQuery | None = None
    usernames: NameQuery | None = None
    role_ids: RoleQuery | None = None
    guild_joined_at: MomentQuery | None = None
    safety_signals: SafetySignals | None = None
    is_pending: bool | None = None
    did_rejoin: bool | None = None
    join_source_type: NumberQuery | None = None
    source_invite_code: NameQuery | None = None


class Position(Struct, frozen=True, kw_only=True):
    """A member that a page begins after or ends before."""

    user_id: UserId
    guild_joined_at: int


class SearchMembers(Struct, frozen=True, kw_only=True):
    """The body of Search Guild Members."""

    limit: Annotated[int, Meta(ge=1, le=limits.MEMBER_SEARCH_MAX)] | None = None
    sort: Literal[1, 2, 3, 4] | None = None
    """1 newest members first, 2 oldest members first, 3 newest users first, 4 oldest users first."""
    or_query: MemberFilter | None = None
    and_query: MemberFilter | None = None
    before: Position | None = None
    """Members who come before this position."""
    after: Position | None = None
    """Members who come after this position."""


class MatchingMember(Struct, frozen=True, kw_only=True):
    """A member, and how they joined, which is not known."""

    member: Member
    join_source_type: int = 0
    source_invite_code: str | None = None
    inviter_id: UserId | UnsetType | None = UNSET


class MemberSearchResult(Struct, frozen=True, kw_only=True):
    """A page of the members who match a search."""

    guild_id: GuildId
    members: list[MatchingMember]
    page_result_count: int
    total_result_count: int
