"""Searching members over HTTP (resources: guild, Search Guild Members)."""

from heapq import nsmallest
from itertools import compress

from moothall.api.context import Context
from moothall.api.endpoint import post
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import GuildId, Snowflake, UserId
from moothall.objects.permissions import Permissions
from moothall.resources.guild.membership.access import has_members_intent
from moothall.resources.guild.membership.search.matching import SortKey, key_of_position, matcher_of, sort_key_of
from moothall.resources.guild.membership.search.queries import ROWS_AT_ONCE, select_searched
from moothall.resources.guild.membership.search.requests import MatchingMember, MemberSearchResult, SearchMembers
from moothall.resources.member.queries import get_members, member_objects
from moothall.storage.bulk import map_items

_LIMIT = 25
_NEWEST_FIRST = 1


@post("/guilds/{guild_id}/members-search", permission=Permissions.MANAGE_GUILD, writes=False)
async def search_members(ctx: Context, guild_id: GuildId, body: SearchMembers) -> MemberSearchResult:
    """Search members by their names, ids, roles, and more. A bot's application needs the GUILD_MEMBERS intent.

    Guests are left out. `total_result_count` is of all pages.
    """
    if not has_members_intent(ctx.actor):
        raise Refusal(errors.MISSING_ACCESS)
    sort = body.sort or _NEWEST_FIRST
    total, keys = await _matching(ctx, guild_id, body, sort)
    user_ids = [user_id for _, user_id in keys]
    rows = await get_members(ctx.tx, guild_id, user_ids)
    members = await member_objects(ctx.tx, [rows[user_id] for user_id in user_ids if user_id in rows])
    return MemberSearchResult(
        guild_id=guild_id,
        members=[MatchingMember(member=member) for member in members],
        page_result_count=len(members),
        total_result_count=total,
    )


async def _matching(
    ctx: Context, guild_id: GuildId, body: SearchMembers, sort: int
) -> tuple[int, list[tuple[SortKey, UserId]]]:
    """Return how many members match, and those of the page in order, each with what they are sorted by."""
    matches, sort_key, limit = matcher_of(body), sort_key_of(sort), body.limit or _LIMIT
    after = None if body.after is None else key_of_position(body.after, sort)
    before = None if body.before is None else key_of_position(body.before, sort)
    total, page = 0, list[tuple[SortKey, UserId]]()
    last_id = UserId(Snowflake(0))
    while True:
        rows = await select_searched(ctx.tx, guild_id, last_id)
        matching = await map_items(ctx.tx, lambda row: row.guest_channel_id is None and matches(row), rows)
        for row in compress(rows, matching):
            total += 1
            key = sort_key(row.joined_at, row.user_id)
            if (after is None or key > after) and (before is None or key < before):
                page.append((key, row.user_id))
        page = _page(page, limit, from_end=after is None and before is not None)
        if len(rows) < ROWS_AT_ONCE:
            return total, page
        last_id = rows[-1].user_id


def _page(matching: list[tuple[SortKey, UserId]], limit: int, *, from_end: bool) -> list[tuple[SortKey, UserId]]:
    """The first `limit` of some members in order, or the last."""
    return sorted(matching)[-limit:] if from_end else nsmallest(limit, matching)
