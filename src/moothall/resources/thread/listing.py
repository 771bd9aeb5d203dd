"""Lists of threads and thread members: archived threads, searches, members."""

from collections.abc import Sequence

from msgspec import UNSET

from moothall.kernel.context import Context
from moothall.objects import errors, limits
from moothall.objects.channel import Channel, ThreadMember
from moothall.objects.channel_types import HAS_THREADS, ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, GuildId, Snowflake, UserId
from moothall.objects.text import search_key
from moothall.objects.wire import Timestamp, encode
from moothall.resources.channel.thread_activity.encoded import SearchResults, ThreadCache, json_array
from moothall.resources.channel.thread_activity.queries import ThreadMemberRow, select_members_among
from moothall.resources.channel.thread_activity.state import thread_member_object
from moothall.resources.channel.visible_channels import visible_channels
from moothall.resources.member.queries import get_members, member_objects
from moothall.resources.message.first_messages import FirstMessages
from moothall.resources.message.rendering import viewer_in
from moothall.resources.thread import queries, rules
from moothall.resources.thread.queries import ThreadSearch
from moothall.resources.thread.rules import thread_of

_MAX_WORDS = 8
_END_OF_TIME = Timestamp((1 << 63) - 1)


async def list_active(ctx: Context, guild_id: GuildId) -> bytes:
    """Return the active threads of a guild that the caller may view, newest first, as JSON."""
    visible = await visible_channels(ctx)
    cache = ctx.services.resources[ThreadCache]
    active = await cache.active(ctx.tx, guild_id)
    joined = await cache.joined(ctx.tx, guild_id, active, ctx.actor.user_id) if active.threads else {}
    viewable, managed = visible.viewable, visible.managed
    # Of private threads each member sees others.
    key = (visible, ctx.actor.user_id, frozenset(joined)) if active.any_private else visible
    threads = cache.page(
        active,
        key,
        (
            thread
            for thread in active.threads
            if thread.parent_id in viewable
            and (not thread.private or thread.parent_id in managed or thread.id in joined)
        ),
    )
    members = [joined[thread.id] for thread in active.threads if thread.id in joined and thread.parent_id in viewable]
    return b'{"threads":%b,"members":%b,"has_more":false}' % (threads, encode(members))


async def list_public_archived(ctx: Context, before: Timestamp | None, maximum: int) -> bytes:
    """Return the archived public threads of the current channel, latest archived first, as JSON."""
    kind = rules.public_thread_type(_thread_parent(ctx))
    thread_ids = await queries.select_archived(ctx.tx, ctx.channel.id, kind, before or _END_OF_TIME, maximum + 1)
    return await _page(ctx, thread_ids, maximum)


async def list_private_archived(ctx: Context, before: Timestamp | None, maximum: int) -> bytes:
    """Return the archived private threads of the current channel, latest archived first, as JSON."""
    kind = int(ChannelType.PRIVATE_THREAD)
    thread_ids = await queries.select_archived(
        ctx.tx, _thread_parent(ctx).id, kind, before or _END_OF_TIME, maximum + 1
    )
    return await _page(ctx, thread_ids, maximum)


async def list_joined_private_archived(ctx: Context, before: Snowflake | None, maximum: int) -> bytes:
    """Return the archived private threads of the current channel that the caller is in, newest first, as JSON."""
    thread_ids = await queries.select_joined_archived(
        ctx.tx, _thread_parent(ctx).id, ctx.actor.user_id, before or Snowflake(_END_OF_TIME), maximum + 1
    )
    return await _page(ctx, thread_ids, maximum)


async def search_threads(ctx: Context, search: ThreadSearch) -> bytes:
    """Return a page of search results among the public threads of the current channel, as JSON.

    It has the first messages of the threads and the total number of results.
    """
    parent_id = _thread_parent(ctx).id
    cache = ctx.services.resources[ThreadCache]
    searches = await cache.searches(ctx.tx, parent_id)
    results = searches.get(search)
    if results is None:
        thread_ids, total = await queries.search_threads(ctx.tx, parent_id, search)
        results = searches[search] = SearchResults(tuple(thread_ids), total, await _encoded_threads(ctx, thread_ids))
    members = await cache.memberships(ctx.tx, ctx.actor.user_id, results.thread_ids)
    messages = await ctx.services.resources[FirstMessages].get(ctx.tx, results.thread_ids, viewer_in(ctx))
    has_more = search.offset + len(results.thread_ids) < results.total
    return b'{"threads":%b,"members":%b,"has_more":%b,"total_results":%d,"first_messages":[%b]}' % (
        results.threads,
        members,
        b"true" if has_more else b"false",
        results.total,
        b",".join(messages),
    )


def search_words(name: str | None) -> tuple[str, ...]:
    """Split a search text into words, normalized like the names that they are compared with."""
    return tuple(dict.fromkeys(search_key(name or "").split()))[:_MAX_WORDS]


def _thread_parent(ctx: Context) -> Channel:
    if ctx.channel.channel.type not in HAS_THREADS:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    return ctx.channel.channel


async def _page(ctx: Context, thread_ids: Sequence[ChannelId], maximum: int) -> bytes:
    threads, members = await _threads_and_members(ctx, thread_ids[:maximum])
    has_more = b"true" if len(thread_ids) > maximum else b"false"
    return b'{"threads":%b,"members":%b,"has_more":%b}' % (threads, members, has_more)


async def _threads_and_members(ctx: Context, thread_ids: Sequence[ChannelId]) -> tuple[bytes, bytes]:
    """Return threads, and the caller's thread members of those joined, as JSON."""
    members = await ctx.services.resources[ThreadCache].memberships(ctx.tx, ctx.actor.user_id, tuple(thread_ids))
    return await _encoded_threads(ctx, thread_ids), members


async def _encoded_threads(ctx: Context, thread_ids: Sequence[ChannelId]) -> bytes:
    """Return those of several threads that still exist as JSON."""
    threads = await ctx.services.resources[ThreadCache].get(ctx.tx, thread_ids)
    return json_array(threads[thread_id] for thread_id in thread_ids if thread_id in threads)


async def get_thread_member(ctx: Context, user_id: UserId, *, with_member: bool) -> ThreadMember:
    """Return a member of the current thread. Raises Refusal: 404/10007."""
    rows = await select_members_among(ctx.tx, thread_of(ctx).id, [user_id])
    if user_id not in rows:
        raise Refusal(errors.UNKNOWN_MEMBER)
    return (await _thread_members(ctx, [rows[user_id]], with_member=with_member))[0]


async def list_thread_members(
    ctx: Context, after: UserId | None, maximum: int | None, *, with_member: bool
) -> list[ThreadMember]:
    """Return the members of the current thread by user id: all of them, or a page with `maximum` or `with_member`."""
    if maximum is None:
        maximum = limits.THREAD_LIST_MAX if with_member else limits.THREAD_MEMBERS_MAX
    rows = await queries.select_member_page(ctx.tx, thread_of(ctx).id, after or UserId(Snowflake(0)), maximum)
    return await _thread_members(ctx, rows, with_member=with_member)


async def _thread_members(ctx: Context, rows: Sequence[ThreadMemberRow], *, with_member: bool) -> list[ThreadMember]:
    own_id = ctx.actor.user_id
    if not with_member:
        return [thread_member_object(row, own=row.user_id == own_id) for row in rows]
    member_rows = await get_members(ctx.tx, ctx.guild.id, [row.user_id for row in rows])
    objects = await member_objects(ctx.tx, list(member_rows.values()))
    members = {member.user.id: member for member in objects if member.user is not UNSET}
    return [thread_member_object(row, members.get(row.user_id), own=row.user_id == own_id) for row in rows]
