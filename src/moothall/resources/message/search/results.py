"""Running a search: from its parameters to its response."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from moothall.api.context import Context
from moothall.authority.channel_queries import select_channel
from moothall.objects import errors
from moothall.objects.channel_types import DIRECT
from moothall.objects.errors import Refusal
from moothall.objects.ids import MAX_ID, ChannelId, Snowflake
from moothall.objects.wire import encode
from moothall.resources.channel.objects import direct_channel_objects
from moothall.resources.channel.queries import select_own_memberships
from moothall.resources.channel.thread_activity.encoded import ThreadCache, json_array
from moothall.resources.message.people import user_cache
from moothall.resources.message.queries import ShownRow
from moothall.resources.message.rendering import Viewer, encode_rows, viewer_in, viewer_of
from moothall.resources.message.search import queries
from moothall.resources.message.search.cache import Hit, SearchCache
from moothall.resources.message.search.documents import hashed, text_of
from moothall.resources.message.search.index_query import AllOf, AnyOf, Node, content_nodes
from moothall.resources.message.search.jobs import JOB_ID
from moothall.resources.message.search.queries import HitPage, IndexSearch
from moothall.resources.message.search.requests import GuildSearch, Search
from moothall.resources.message.search.scope import Scope, direct_scope, scope_of
from moothall.resources.message.search.terms import words_of

_RETRY_SECONDS: Final = 2
_MAX_RANKED: Final = 500
"""The number of results, the newest, that are ordered by relevance."""
_NO_RESULTS: Final = b'{"doing_deep_historical_index":false,"total_results":0,"messages":[],"threads":[],"members":[]}'


async def search_guild(ctx: Context, params: GuildSearch) -> bytes:
    """Search the guild entered; a page of results as JSON (`SearchResults`).

    A message is hits within about a second of being written. Raises Refusal: 202/110000 while the
    messages from before the index are still being indexed, 403/50001 for bots without the
    MESSAGE_CONTENT intent.
    """
    viewer = viewer_of(ctx.actor, in_guild=True)
    if not viewer.reads_all:
        # Whether a word matches a message reveals its text.
        raise Refusal(errors.MISSING_ACCESS)
    await _require_index(ctx)
    scope = await scope_of(ctx, nsfw=params.include_nsfw)
    return await _search(ctx, params, params.channel_id or (), viewer, scope, b"")


async def search_direct_messages(ctx: Context, params: Search) -> bytes:
    """Search the direct message or group entered.

    Raises Refusal: 400/50024 for a channel of a guild, 202/110000 as `search`.
    """
    channel = ctx.channel.channel
    if channel.type not in DIRECT:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    await _require_index(ctx)
    row = await select_channel(ctx.tx, channel.id)
    shown = await direct_channel_objects(ctx.tx, [] if row is None else [row], ctx.actor.user_id)
    scope = direct_scope(channel.id)
    more = b',"channels":%b' % encode(shown)
    return await _search(ctx, params, (channel.id,), viewer_in(ctx), scope, more)


async def _search(
    ctx: Context, params: Search, channel_ids: Sequence[ChannelId], viewer: Viewer, scope: Scope, more: bytes
) -> bytes:
    """The response for the messages of a scope, or of some of its channels, with `more` fields if there are results."""
    query = _index_query(params, channel_ids, scope)
    if query is None:
        return _NO_RESULTS
    cache = ctx.services.resources[SearchCache]
    index_search = IndexSearch.of(ctx.services.database.dialect, query, _bounds(params), scope.channel_ids)
    total = await cache.total(ctx.tx, index_search)
    if not total:
        return _NO_RESULTS
    ranks = params.sort_by == "relevance" and bool(params.content)
    page = HitPage(
        maximum=_MAX_RANKED if ranks else params.limit,
        offset=0 if ranks else params.offset,
        descending=ranks or params.sort_order == "desc",
    )
    hits = await cache.hits(ctx.tx, index_search, page, total)
    if ranks:
        hits = (await _ranked(ctx, params.content or "", hits))[params.offset : params.offset + params.limit]
    return await _response(ctx, viewer, scope, hits, total, more)


async def _require_index(ctx: Context) -> None:
    state = await queries.select_job_state(ctx.tx, JOB_ID)
    if state is None:
        return
    done = msgspec.json.decode(state).get("done", 0)
    raise Refusal(
        errors.INDEX_NOT_READY,
        headers={"retry-after": str(_RETRY_SECONDS)},
        extra={"documents_indexed": done, "retry_after": _RETRY_SECONDS},
    )


def _bounds(params: Search) -> tuple[int, int] | None:
    if params.min_id is None and params.max_id is None:
        return None
    return (
        -1 if params.min_id is None else int(params.min_id),
        MAX_ID if params.max_id is None else int(params.max_id),
    )


def _index_query(params: Search, channel_ids: Sequence[ChannelId], scope: Scope) -> AllOf | None:
    """The query of a search; None if no message can match."""
    if not scope.readable:
        return None
    every, none = scope.nodes()
    if params.content:
        nodes = content_nodes(params.content, params.slop)
        if not nodes:
            return None
        every += nodes
    every += _list_nodes(params)
    if channel_ids:
        # A forum's messages are all in its threads.
        every.append(AnyOf(tuple(f"{'v' if c in scope.forums else 'c'}{int(c)}" for c in channel_ids)))
    for letter, names in (("t", params.author_type), ("h", params.has)):
        _add_names(letter, names or (), every, none)
    for facet, flag in (("e", params.mention_everyone), ("p", params.pinned)):
        if flag is not None:
            (every if flag else none).append(AnyOf((facet,)))
    return AllOf(tuple(every), tuple(none))


def _list_nodes(params: Search) -> Iterator[Node]:
    """The nodes of parameters that are lists, of which one value must match."""
    for letter, ids in (
        ("a", params.author_id),
        ("m", params.mentions),
        ("r", params.mentions_role_id),
        ("u", params.replied_to_user_id),
        ("i", params.replied_to_message_id),
    ):
        if ids:
            yield AnyOf(tuple(f"{letter}{int(item)}" for item in ids))
    if params.embed_type:
        yield AnyOf(tuple(f"b{name}" for name in params.embed_type))
    if params.embed_provider:
        yield AnyOf(tuple(hashed("o", name) for name in params.embed_provider))
    for letter, texts in (
        ("l", params.link_hostname),
        ("f", params.attachment_filename),
        ("k", params.attachment_extension),
    ):
        if texts:
            yield AnyOf(tuple(hashed(letter, text.lower()) for text in texts))


def _add_names(letter: str, names: Iterable[str], every: list[Node], none: list[Node]) -> None:
    names = list(names)
    if included := tuple(f"{letter}{name}" for name in names if not name.startswith("-")):
        every.append(AnyOf(included))
    if excluded := tuple(f"{letter}{name[1:]}" for name in names if name.startswith("-")):
        none.append(AnyOf(excluded))


async def _ranked(ctx: Context, content: str, hits: Sequence[Hit]) -> list[Hit]:
    """Results by relevance: first those with more of the words and fewer others, and among equals the newer."""
    rows = await queries.select_messages(ctx.tx, ctx.services.database.dialect, hits)
    bodies = {row[0]: row[6] for _, row in rows}
    words = set(words_of(content))

    def score(hit: Hit) -> float:
        counted = Counter(words_of(text_of(bodies.get(hit[0], b"{}"))))
        matches = sum(1 + math.log(counted[word]) for word in words if counted[word])
        return matches / (1 + math.log(1 + counted.total()))

    return sorted(hits, key=lambda hit: (-score(hit), -hit[0]))


async def _response(ctx: Context, viewer: Viewer, scope: Scope, hits: Sequence[Hit], total: int, more: bytes) -> bytes:
    in_threads = {channel_id for _, channel_id in hits if channel_id not in scope.readable}
    threads = await ctx.services.resources[ThreadCache].get(ctx.tx, in_threads) if in_threads else {}
    readable = {thread_id: thread for thread_id, thread in threads.items() if scope.may_read(thread)}
    shown = await encoded_messages(ctx, viewer, [hit for hit in hits if hit[1] in scope.readable or hit[1] in readable])
    thread_ids = dict.fromkeys(hit[1] for hit in hits if hit[0] in shown and hit[1] in readable)
    used = [readable[thread_id] for thread_id in thread_ids]
    joined = await select_own_memberships(ctx.tx, ctx.actor.user_id, [thread.id for thread in used])
    return b'{"doing_deep_historical_index":false,"total_results":%d,"messages":[%b],"threads":%b,"members":%b%b}' % (
        total,
        b",".join([b'[%b,"hit":true}]' % shown[hit[0]][:-1] for hit in hits if hit[0] in shown]),
        json_array(used),
        encode([joined[thread.id] for thread in used if thread.id in joined]),
        more,
    )


async def encoded_messages(ctx: Context, viewer: Viewer, hits: Sequence[Hit]) -> dict[int, bytes]:
    """Messages of any channels as JSON without reactions, by id; deleted ones are left out.

    `hits` are the ids of messages, each with that of its channel.
    """
    rows = await queries.select_messages(ctx.tx, ctx.services.database.dialect, hits) if hits else []
    by_channel: dict[int, list[ShownRow]] = {}
    for channel_id, row in rows:
        message_id, author_id, pinned, _, mentions, replied_id, body, parts = row
        # What a message with only text shows does not depend on its channel.
        group = channel_id if replied_id is not None or parts else 0
        by_channel.setdefault(group, []).append((message_id, author_id, pinned, 0, mentions, replied_id, body, parts))
    shown: dict[int, bytes] = {}
    known = user_cache(ctx)
    for channel_id, stored in by_channel.items():  # as many as there are replies and files at most
        encoded = await encode_rows(ctx.tx, ChannelId(Snowflake(channel_id)), stored, viewer, known)
        shown.update((row[0], data) for row, data in zip(stored, encoded, strict=True))
    return shown
