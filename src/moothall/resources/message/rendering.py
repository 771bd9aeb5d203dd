"""Stored messages as the API returns them: their bodies with authors, mentions, reactions and parts, joined as bytes.

Stored bodies are not decoded, unless the viewer may not read their text. A page costs one query for the messages,
one for their users, and one each for the messages replied to and for reactions where there are any.
"""

from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from moothall.api.authenticate import Actor
from moothall.api.context import Context
from moothall.objects.application import privileged_intents
from moothall.objects.ids import ChannelId, Snowflake, UserId
from moothall.objects.intents import Intent
from moothall.objects.message import Reaction
from moothall.objects.user import User
from moothall.objects.wire import encode
from moothall.resources.message.body import AUTHOR_FIRST, names_author, strip_body
from moothall.resources.message.extensions import encoded_parts
from moothall.resources.message.people import UserCache, encoded_users
from moothall.resources.message.queries import ShownRow, select_shown
from moothall.resources.message.queries.reactions import select_reactions
from moothall.storage.database import Reader

DELETED_USER = encode(User(id=UserId(Snowflake(0)), username="deleted_user"))
"""The author object of messages whose author is deleted from the database."""


class Viewer(Struct, frozen=True):
    """The user who reads messages."""

    user_id: UserId
    reads_all: bool = True
    """False for a bot without the MESSAGE_CONTENT intent, outside its direct messages."""

    def reads(self, author_id: int, mentions: Collection[int]) -> bool:
        """Whether the user may read the text of a message."""
        return self.reads_all or author_id == self.user_id or self.user_id in mentions


def viewer_of(actor: Actor, *, in_guild: bool) -> Viewer:
    """The actor of a request as a viewer. In guilds, bots read text only if their application has MESSAGE_CONTENT."""
    blind = actor.bot and in_guild and not privileged_intents(actor.application_flags) & Intent.MESSAGE_CONTENT
    return Viewer(actor.user_id, reads_all=not blind)


def viewer_in(ctx: Context) -> Viewer:
    """The caller as a viewer of the channel entered."""
    return viewer_of(ctx.actor, in_guild=ctx.in_guild)


def mentioned_ids(mentions: str | None) -> list[int]:
    """The ids of a stored `mentions` column."""
    return [int(user_id) for user_id in mentions[1:-1].split(",")] if mentions and mentions != "[]" else []


class EncodedPage(Struct, frozen=True):
    """Messages of one channel as JSON, in the order of their rows."""

    messages: list[bytes]
    user_ids: set[int]
    """The authors and mentioned users whose objects the messages contain."""
    by_viewer: tuple[int, ...]
    """The indexes of messages that another viewer who may read their text would get differently."""


async def encode_rows(
    reader: Reader,
    channel_id: ChannelId,
    rows: Sequence[ShownRow],
    viewer: Viewer,
    cache: UserCache | None = None,
) -> list[bytes]:
    """Messages of one channel as JSON, in the order of the rows."""
    return (await encode_page(reader, channel_id, rows, viewer, cache)).messages


async def encode_page(
    reader: Reader,
    channel_id: ChannelId,
    rows: Sequence[ShownRow],
    viewer: Viewer,
    cache: UserCache | None = None,
) -> EncodedPage:
    """The same, with what their JSON depends on."""
    replied_ids = {row[5] for row in rows if row[5] is not None}
    replied = await _replied_to(reader, channel_id, rows, replied_ids) if replied_ids else {}
    people = _people_of(rows, replied.values())
    users = await (encoded_users(reader, people) if cache is None else cache.get(reader, people))
    reacted = [row[0] for row in rows if row[3]]
    reactions = await _encoded_reactions(reader, channel_id, reacted, viewer.user_id) if reacted else {}
    parts = await _parts_of(reader, channel_id, [*rows, *replied.values()], viewer)
    tails: dict[tuple[int, int], bytes] = {}
    encoded = []
    by_viewer = []
    for row in rows:
        message_id, author_id, pinned, has_reactions, mentions, replied_id, body, has_parts = row
        if mentions is None and replied_id is None and not has_reactions and not has_parts and viewer.reads_all:
            # Nearly every message: the tail is the same for all messages of an author.
            if body.startswith(AUTHOR_FIRST):
                author_id = 0
            tail = tails.get((author_id, pinned))
            if tail is None:
                tail = tails[author_id, pinned] = _tail(users.get(author_id, DELETED_USER), author_id, pinned)
            encoded.append(body[:-1] + tail)
            continue
        original = None if replied_id is None else replied.get(replied_id)
        if has_reactions or has_parts or (original is not None and original[7]):
            by_viewer.append(len(encoded))
        pieces = [_encode_one(row, users, viewer, parts)[:-1]]
        if has_reactions and message_id in reactions:
            pieces.append(b',"reactions":' + reactions[message_id])
        if replied_id is not None:
            shown = b"null" if original is None else _encode_one(original, users, viewer, parts)
            pieces.append(b',"referenced_message":' + shown)
        pieces.append(b"}")
        encoded.append(b"".join(pieces))
    return EncodedPage(encoded, people, tuple(by_viewer))


async def _replied_to(
    reader: Reader, channel_id: ChannelId, rows: Sequence[ShownRow], replied_ids: Collection[int]
) -> dict[int, ShownRow]:
    """The messages that those of a page reply to, by id, in one query for those that are not on the page."""
    on_page = {row[0]: row for row in rows}
    replied = {message_id: on_page[message_id] for message_id in replied_ids if message_id in on_page}
    missing = [message_id for message_id in replied_ids if message_id not in replied]
    if missing:
        replied.update((row[0], row) for row in await select_shown(reader, channel_id, missing))
    return replied


async def _parts_of(
    reader: Reader, channel_id: ChannelId, rows: Sequence[ShownRow], viewer: Viewer
) -> dict[int, bytes]:
    having = [(row[0], row[7]) for row in rows if row[7]]
    if not having:
        return {}
    hidden = {row[0] for row in rows if row[7] and not viewer.reads(row[1], mentioned_ids(row[4]))}
    return await encoded_parts(reader, channel_id, having, viewer.user_id, hidden=hidden)


async def _encoded_reactions(
    reader: Reader, channel_id: ChannelId, message_ids: list[int], user_id: UserId
) -> dict[int, bytes]:
    """The `reactions` of messages as JSON arrays, by message."""
    by_message: dict[int, list[Reaction]] = {}
    for message_id, reaction in await select_reactions(reader, channel_id, message_ids, user_id):
        by_message.setdefault(message_id, []).append(reaction)
    return {message_id: encode(reactions) for message_id, reactions in by_message.items()}


async def message_bytes(
    reader: Reader, channel_id: ChannelId, message_ids: Iterable[int], viewer: Viewer
) -> dict[int, bytes]:
    """Messages of a channel as JSON, by id; unknown ids are left out."""
    rows = await select_shown(reader, channel_id, [int(message_id) for message_id in message_ids])
    encoded = await encode_rows(reader, channel_id, rows, viewer)
    return {row[0]: data for row, data in zip(rows, encoded, strict=True)}


def _people_of(*groups: Iterable[ShownRow]) -> set[int]:
    user_ids: set[int] = set()
    for group in groups:
        for row in group:
            user_ids.add(row[1])
            if row[4] is not None:
                user_ids.update(mentioned_ids(row[4]))
    return user_ids


def _tail(author: bytes, author_id: int, pinned: int) -> bytes:
    shown = b',"author":%b' % author if author_id else b""
    return b'%b,"mentions":[],"pinned":%b}' % (shown, b"true" if pinned else b"false")


def _encode_one(row: ShownRow, users: dict[int, bytes], viewer: Viewer, parts: dict[int, bytes]) -> bytes:
    message_id, author_id, pinned, _, mentions, _, body, _ = row
    listed = mentioned_ids(mentions)
    if not viewer.reads(author_id, listed):
        body = strip_body(body)
    author = None if names_author(body) else users.get(author_id, DELETED_USER)
    mentioned = [users[user_id] for user_id in listed if user_id in users]
    return assemble(body, author, mentioned, pinned=bool(pinned), more=parts.get(message_id, b""))


def assemble(body: bytes, author: bytes | None, mentions: Sequence[bytes], *, pinned: bool, more: bytes = b"") -> bytes:
    """A message as JSON.

    `author` is None if the body contains it, `mentions` are user objects, `more` further keys, each after a comma.
    """
    shown = b"" if author is None else b',"author":' + author
    return b'%b%b,"mentions":[%b],"pinned":%b%b}' % (
        body[:-1],
        shown,
        b",".join(mentions),
        b"true" if pinned else b"false",
        more,
    )
