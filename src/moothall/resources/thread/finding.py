"""Lists of threads: those that are archived, and what a search of a forum finds."""

from collections.abc import Sequence

from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.channel import Channel
from moothall.objects.channel_types import HAS_THREADS, ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.ids import Snowflake
from moothall.objects.text import search_key
from moothall.objects.wire import Timestamp, encode
from moothall.resources.channel.objects import channel_objects
from moothall.resources.channel.queries import select_own_memberships
from moothall.resources.message.pages import viewer_in
from moothall.resources.thread import queries, rules
from moothall.resources.thread.first_messages import first_messages
from moothall.resources.thread.queries import ThreadSearch
from moothall.storage.rows import ChannelRow, channel_from_row

_MAX_WORDS = 8
_END_OF_TIME = Timestamp((1 << 63) - 1)


async def archived_public(ctx: Context, before: Timestamp | None, maximum: int) -> bytes:
    """The public threads of the channel entered that are archived, the one archived last first, as JSON."""
    kind = rules.public_type(_parent(ctx))
    rows = await queries.select_archived(ctx.tx, ctx.channel.id, kind, before or _END_OF_TIME, maximum + 1)
    return await _page(ctx, rows, maximum)


async def archived_private(ctx: Context, before: Timestamp | None, maximum: int) -> bytes:
    """The same for private ones."""
    kind = int(ChannelType.PRIVATE_THREAD)
    rows = await queries.select_archived(ctx.tx, _parent(ctx).id, kind, before or _END_OF_TIME, maximum + 1)
    return await _page(ctx, rows, maximum)


async def joined_archived(ctx: Context, before: Snowflake | None, maximum: int) -> bytes:
    """The archived private threads of the channel entered that the caller is in, newest first, as JSON."""
    rows = await queries.select_joined_archived(
        ctx.tx, _parent(ctx).id, ctx.actor.user_id, before or Snowflake(_END_OF_TIME), maximum + 1
    )
    return await _page(ctx, rows, maximum)


async def search(ctx: Context, asked: ThreadSearch) -> bytes:
    """A page of the public threads of the channel entered that a search finds, with their first messages, as JSON."""
    rows, total = await queries.search_threads(ctx.tx, _parent(ctx).id, asked)
    threads, members = await _told(ctx, rows)
    has_more = asked.offset + len(rows) < total
    messages = await first_messages(ctx.tx, [row.id for row in rows], viewer_in(ctx))
    return b'{"threads":%b,"members":%b,"has_more":%b,"total_results":%d,"first_messages":[%b]}' % (
        threads,
        members,
        b"true" if has_more else b"false",
        total,
        b",".join(messages),
    )


def search_words(name: str | None) -> tuple[str, ...]:
    """The words of a search, as names are stored for it."""
    return tuple(dict.fromkeys(search_key(name or "").split()))[:_MAX_WORDS]


def _parent(ctx: Context) -> Channel:
    if ctx.channel.channel.type not in HAS_THREADS:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    return ctx.channel.channel


async def _page(ctx: Context, rows: Sequence[ChannelRow], maximum: int) -> bytes:
    threads, members = await _told(ctx, rows[:maximum])
    has_more = b"true" if len(rows) > maximum else b"false"
    return b'{"threads":%b,"members":%b,"has_more":%b}' % (threads, members, has_more)


async def _told(ctx: Context, rows: Sequence[ChannelRow]) -> tuple[bytes, bytes]:
    """Threads, and the caller's own membership of those joined, as JSON."""
    own = await select_own_memberships(ctx.tx, ctx.actor.user_id, [row.id for row in rows])
    threads = await channel_objects(ctx.tx, map(channel_from_row, rows))
    return encode(threads), encode([own[row.id] for row in rows if row.id in own])
