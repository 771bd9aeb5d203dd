"""Lists of threads and thread members: archived threads, searches, members."""

from collections.abc import Sequence

from msgspec import UNSET

from moothall.api.context import Context
from moothall.objects import errors, limits
from moothall.objects.channel import Channel, ThreadMember
from moothall.objects.channel_types import HAS_THREADS, ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.ids import NO_USER, ChannelId, GuildId, Snowflake, UserId
from moothall.objects.text import search_key
from moothall.objects.wire import Timestamp, encode
from moothall.resources.channel.thread_activity.encoded import ThreadCache, ThreadPage, json_array
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
    viewed = (
        thread
        for thread in active.threads
        if thread.parent_id in viewable and (not thread.private or thread.parent_id in managed or thread.id in joined)
    )
    members = [
        joined[thread.id]
        for thread in (active.threads if joined else ())
        if thread.id in joined and thread.parent_id in viewable
    ]
    return cache.list_active(active, key, viewed, members)


async def list_public_archived(ctx: Context, before: Timestamp | None, maximum: int) -> bytes:
    """Return the archived public threads of the current channel, latest archived first, as JSON."""
    parent = _thread_parent(ctx)
    return await _list_archived(ctx, parent.id, rules.public_thread_type(parent), before, maximum)


async def list_private_archived(ctx: Context, before: Timestamp | None, maximum: int) -> bytes:
    """Return the archived private threads of the current channel, latest archived first, as JSON."""
    return await _list_archived(ctx, _thread_parent(ctx).id, int(ChannelType.PRIVATE_THREAD), before, maximum)


async def _list_archived(
    ctx: Context, parent_id: ChannelId, kind: int, before: Timestamp | None, maximum: int
) -> bytes:
    cache = ctx.services.resources[ThreadCache]
    pages = await cache.pages(ctx.tx, parent_id)
    key = kind, before, maximum
    page = pages.get(key)
    if page is None:
        thread_ids = await queries.select_archived(ctx.tx, parent_id, kind, before or _END_OF_TIME, maximum + 1)
        page = await _page(ctx, thread_ids, maximum)
        cache.keep(pages, key, page)
    return await _with_members(ctx, page)


async def list_joined_private_archived(ctx: Context, before: Snowflake | None, maximum: int) -> bytes:
    """Return the archived private threads of the current channel that the caller is in, newest first, as JSON."""
    thread_ids = await queries.select_joined_archived(
        ctx.tx, _thread_parent(ctx).id, ctx.actor.user_id, before or Snowflake(_END_OF_TIME), maximum + 1
    )
    return await _with_members(ctx, await _page(ctx, thread_ids, maximum))


async def search_threads(ctx: Context, search: ThreadSearch) -> bytes:
    """Return a page of search results among the public threads of the current channel, as JSON.

    It has the first messages of the threads and the total number of results.
    """
    parent_id = _thread_parent(ctx).id
    cache = ctx.services.resources[ThreadCache]
    pages = await cache.pages(ctx.tx, parent_id)
    page = pages.get(search)
    if page is None:
        thread_ids, total = await queries.search_threads(ctx.tx, parent_id, search)
        has_more = search.offset + len(thread_ids) < total
        threads = await _encoded_threads(ctx, thread_ids)
        page = ThreadPage(tuple(thread_ids), threads, has_more, total)
        cache.keep(pages, search, page)
    messages = await ctx.services.resources[FirstMessages].get(ctx.tx, page.thread_ids, viewer_in(ctx))
    return b'%b,"total_results":%d,"first_messages":[%b]}' % (
        (await _with_members(ctx, page))[:-1],
        page.total,
        b",".join(messages),
    )


async def get_post_data(ctx: Context, thread_ids: Sequence[ChannelId]) -> bytes:
    """Return the owners and first messages of those of several threads that are public ones of the channel, as JSON."""
    parent_id = _thread_parent(ctx).id
    threads = [
        row
        for row in await queries.select_threads(ctx.tx, dict.fromkeys(thread_ids))
        if row.parent_id == parent_id and row.type != ChannelType.PRIVATE_THREAD
    ]
    member_rows = await get_members(ctx.tx, ctx.guild.id, {row.owner_id for row in threads if row.owner_id is not None})
    objects = await member_objects(ctx.tx, list(member_rows.values()))
    owners = {member.user.id: encode(member) for member in objects if member.user is not UNSET}
    first_messages = ctx.services.resources[FirstMessages]
    messages = await first_messages.by_thread(ctx.tx, [row.id for row in threads], viewer_in(ctx))
    encoded = (
        b'"%d":{"owner":%b,"first_message":%b}'
        % (row.id, owners.get(row.owner_id or NO_USER, b"null"), messages.get(row.id) or b"null")
        for row in threads
    )
    return b'{"threads":{%b}}' % b",".join(encoded)


def search_words(name: str | None) -> tuple[str, ...]:
    """Split a search text into words, normalized like the names that they are compared with."""
    return tuple(dict.fromkeys(search_key(name or "").split()))[:_MAX_WORDS]


def _thread_parent(ctx: Context) -> Channel:
    if ctx.channel.channel.type not in HAS_THREADS:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    return ctx.channel.channel


async def _page(ctx: Context, thread_ids: Sequence[ChannelId], maximum: int) -> ThreadPage:
    """Return the page of threads of which there may be more than `maximum`."""
    shown = tuple(thread_ids[:maximum])
    return ThreadPage(shown, await _encoded_threads(ctx, shown), len(thread_ids) > maximum)


async def _with_members(ctx: Context, page: ThreadPage) -> bytes:
    """Return a page with the caller's thread members of those joined, as JSON."""
    members = await ctx.services.resources[ThreadCache].memberships(ctx.tx, ctx.actor.user_id, page.thread_ids)
    return b'{"threads":%b,"members":%b,"has_more":%b}' % (
        page.threads,
        members,
        b"true" if page.has_more else b"false",
    )


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
