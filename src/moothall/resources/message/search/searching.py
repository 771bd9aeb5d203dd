"""A search from its parameters to its answer."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.channel_types import THREADS
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, Snowflake
from moothall.objects.wire import encode
from moothall.resources.channel.objects import channel_objects
from moothall.resources.channel.queries import select_own_memberships
from moothall.resources.message.pages import Viewer, encode_rows, viewer_of
from moothall.resources.message.people import KnownUsers
from moothall.resources.message.queries import select_shown
from moothall.resources.message.search import queries
from moothall.resources.message.search.documents import hashed, text_of
from moothall.resources.message.search.jobs import JOB_ID
from moothall.resources.message.search.requests import Search
from moothall.resources.message.search.scope import Scope, scope_of
from moothall.resources.message.search.terms import words_of
from moothall.resources.message.search.wanted import AnyOf, Node, Wanted, says
from moothall.storage.rows import ChannelRow, channel_from_row

_RETRY_SECONDS: Final = 2
_HIGHEST: Final = (1 << 63) - 1
_MAX_RANKED: Final = 500
"""So many of what was found, the newest, are put in the order of relevance."""
_NOTHING: Final = b'{"doing_deep_historical_index":false,"total_results":0,"messages":[],"threads":[],"members":[]}'

Place = tuple[int, int]
"""A message and its channel."""


async def search(ctx: Context, asked: Search) -> bytes:
    """What a search finds of the guild entered, as JSON (`SearchResults`).

    A message is found within about a second of being written. Raises Refusal: 202/110000 while the
    messages from before the index are still being indexed, 403/50001 for bots without the
    MESSAGE_CONTENT intent.
    """
    viewer = viewer_of(ctx.actor, in_guild=True)
    if not viewer.reads_all:
        # Whether a word finds a message tells what is in it.
        raise Refusal(errors.MISSING_ACCESS)
    await _require_index(ctx)
    scope = await scope_of(ctx, nsfw=asked.include_nsfw)
    wanted = _wanted(asked, scope)
    if wanted is None:
        return _NOTHING
    bounds = _bounds(asked)
    dialect = ctx.services.database.dialect
    total = await queries.count_found(ctx.tx, dialect, wanted, bounds)
    if not total:
        return _NOTHING
    ranks = asked.sort_by == "relevance" and bool(asked.content)
    found = await queries.select_found(
        ctx.tx,
        dialect,
        wanted,
        bounds,
        total=total,
        maximum=_MAX_RANKED if ranks else asked.limit,
        offset=0 if ranks else asked.offset,
        descending=ranks or asked.sort_order == "desc",
    )
    if ranks:
        found = (await _ranked(ctx, asked.content or "", found))[asked.offset : asked.offset + asked.limit]
    return await _answer(ctx, viewer, scope, found, total)


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


def _bounds(asked: Search) -> tuple[int, int] | None:
    if asked.min_id is None and asked.max_id is None:
        return None
    return (
        -1 if asked.min_id is None else int(asked.min_id),
        _HIGHEST if asked.max_id is None else int(asked.max_id),
    )


def _wanted(asked: Search, scope: Scope) -> Wanted | None:
    """What is asked of the index; None if nothing can fit."""
    if not scope.readable:
        return None
    every, none = scope.nodes()
    if asked.content:
        said = says(asked.content, asked.slop)
        if not said:
            return None
        every += said
    every += _chosen(asked, scope)
    for letter, names in (("t", asked.author_type), ("h", asked.has)):
        _add_names(letter, names or (), every, none)
    for facet, flag in (("e", asked.mention_everyone), ("p", asked.pinned)):
        if flag is not None:
            (every if flag else none).append(AnyOf((facet,)))
    return Wanted(tuple(every), tuple(none))


def _chosen(asked: Search, scope: Scope) -> Iterator[Node]:
    """What is asked by lists, of each of which one must fit."""
    for letter, ids in (
        ("a", asked.author_id),
        ("m", asked.mentions),
        ("r", asked.mentions_role_id),
        ("u", asked.replied_to_user_id),
        ("i", asked.replied_to_message_id),
    ):
        if ids:
            yield AnyOf(tuple(f"{letter}{int(item)}" for item in ids))
    if asked.channel_id:
        # A forum's messages are all in its threads.
        yield AnyOf(tuple(f"{'v' if c in scope.forums else 'c'}{int(c)}" for c in asked.channel_id))
    if asked.embed_type:
        yield AnyOf(tuple(f"b{name}" for name in asked.embed_type))
    if asked.embed_provider:
        yield AnyOf(tuple(hashed("o", name) for name in asked.embed_provider))
    for letter, texts in (
        ("l", asked.link_hostname),
        ("f", asked.attachment_filename),
        ("k", asked.attachment_extension),
    ):
        if texts:
            yield AnyOf(tuple(hashed(letter, text.lower()) for text in texts))


def _add_names(letter: str, names: Iterable[str], every: list[Node], none: list[Node]) -> None:
    names = list(names)
    if liked := tuple(f"{letter}{name}" for name in names if not name.startswith("-")):
        every.append(AnyOf(liked))
    if disliked := tuple(f"{letter}{name[1:]}" for name in names if name.startswith("-")):
        none.append(AnyOf(disliked))


async def _ranked(ctx: Context, content: str, found: Sequence[Place]) -> list[Place]:
    """What was found, those first that say more of what was asked in fewer words; of equals the newer."""
    bodies = await queries.select_bodies(ctx.tx, found)
    asked = set(words_of(content))

    def score(access: Place) -> float:
        counted = Counter(words_of(text_of(bodies.get(access[0], b"{}"))))
        hits = sum(1 + math.log(counted[word]) for word in asked if counted[word])
        return hits / (1 + math.log(1 + counted.total()))

    return sorted(found, key=lambda access: (-score(access), -access[0]))


async def _answer(ctx: Context, viewer: Viewer, scope: Scope, found: Sequence[Place], total: int) -> bytes:
    rows = {row.id: row for row in await queries.select_channels(ctx.tx, list({access[1] for access in found}))}
    shown = await _messages(ctx, viewer, scope, rows, found)
    accesses = dict.fromkeys(channel_id for message_id, channel_id in found if message_id in shown)
    threads = [rows[channel_id] for channel_id in map(_channel, accesses) if rows[channel_id].type in THREADS]
    joined = await select_own_memberships(ctx.tx, ctx.actor.user_id, [row.id for row in threads])
    return b'{"doing_deep_historical_index":false,"total_results":%d,"messages":[%b],"threads":%b,"members":%b}' % (
        total,
        b",".join(b'[%b,"hit":true}]' % shown[access[0]][:-1] for access in found if access[0] in shown),
        encode(await channel_objects(ctx.tx, map(channel_from_row, threads))),
        encode([joined[row.id] for row in threads if row.id in joined]),
    )


async def _messages(
    ctx: Context, viewer: Viewer, scope: Scope, rows: dict[ChannelId, ChannelRow], found: Sequence[Place]
) -> dict[int, bytes]:
    """Messages as JSON without reactions, by id; those that are gone or out of reach by now are left out."""
    by_channel: dict[ChannelId, list[int]] = {}
    for message_id, channel_id in found:
        row = rows.get(_channel(channel_id))
        if row is not None and scope.may_read(row):
            by_channel.setdefault(row.id, []).append(message_id)
    shown: dict[int, bytes] = {}
    known = KnownUsers.of(ctx)
    for channel_id, message_ids in by_channel.items():  # 25 at most
        stored = [(*row[:3], 0, *row[4:]) for row in await select_shown(ctx.tx, channel_id, message_ids)]
        encoded = await encode_rows(ctx.tx, channel_id, stored, viewer, known)
        shown.update((row[0], data) for row, data in zip(stored, encoded, strict=True))
    return shown


def _channel(channel_id: int) -> ChannelId:
    return ChannelId(Snowflake(channel_id))
