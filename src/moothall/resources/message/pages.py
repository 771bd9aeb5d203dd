"""Showing messages: stored bodies and what belongs around them, put together as bytes.

Nothing of a stored message is decoded here, unless the caller may not read its text. A page costs
one query for the messages, one for the people in them, and one each for the messages replied to and
for reactions where there are any.
"""

from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from moothall.kernel.authenticate import Actor
from moothall.kernel.context import Context
from moothall.objects.application import privileged_intents
from moothall.objects.ids import ChannelId, Snowflake, UserId
from moothall.objects.intents import Intent
from moothall.objects.user import User
from moothall.objects.wire import encode
from moothall.resources.message.body import AUTHOR_FIRST, names_author, strip_body
from moothall.resources.message.parts import encoded_parts
from moothall.resources.message.people import KnownUsers, encoded_users
from moothall.resources.message.queries import ShownRow, select_shown
from moothall.resources.message.reactions import encoded_reactions
from moothall.storage.database import Reader

DELETED_USER = encode(User(id=UserId(Snowflake(0)), username="deleted_user"))
"""Stands for authors whose account is gone from the database."""


class Viewer(Struct, frozen=True):
    """Who looks at messages."""

    user_id: UserId
    reads_all: bool = True
    """False for a bot without the MESSAGE_CONTENT intent, outside its direct messages."""

    def reads(self, author_id: int, mentions: Collection[int]) -> bool:
        """Whether they may read the text of a message."""
        return self.reads_all or author_id == self.user_id or self.user_id in mentions


def viewer_of(actor: Actor, *, in_guild: bool) -> Viewer:
    """How the actor of a request sees messages. Bots read text only if their application's flags say so."""
    blind = actor.bot and in_guild and not privileged_intents(actor.application_flags) & Intent.MESSAGE_CONTENT
    return Viewer(actor.user_id, reads_all=not blind)


def viewer_in(ctx: Context) -> Viewer:
    """How the caller sees the messages of the channel entered."""
    return viewer_of(ctx.actor, in_guild=ctx.in_guild)


def mentioned_ids(mentions: str | None) -> list[int]:
    """The ids of a stored `mentions`."""
    return [int(user_id) for user_id in mentions[1:-1].split(",")] if mentions and mentions != "[]" else []


async def encode_rows(
    reader: Reader,
    channel_id: ChannelId,
    rows: Sequence[ShownRow],
    viewer: Viewer,
    known: KnownUsers | None = None,
) -> list[bytes]:
    """Messages of one channel as JSON, in the order of the rows."""
    replied: dict[int, ShownRow] = {}
    wanted = {row[5] for row in rows if row[5] is not None}
    if wanted:
        here = {row[0]: row for row in rows}
        replied = {message_id: here[message_id] for message_id in wanted if message_id in here}
        missing = [message_id for message_id in wanted if message_id not in replied]
        if missing:
            replied.update((row[0], row) for row in await select_shown(reader, channel_id, missing))
    people = _people_of(rows, replied.values())
    users = await (encoded_users(reader, people) if known is None else known.get(reader, people))
    reacted = [row[0] for row in rows if row[3]]
    reactions = await encoded_reactions(reader, channel_id, reacted, viewer.user_id) if reacted else {}
    parts = await _parts_of(reader, channel_id, [*rows, *replied.values()], viewer)
    tails: dict[tuple[int, int], bytes] = {}
    done = []
    for row in rows:
        message_id, author_id, pinned, has_reactions, mentions, replied_id, body, has_parts = row
        if mentions is None and replied_id is None and not has_reactions and not has_parts and viewer.reads_all:
            # Nearly every message: the tail is the same for all of one author's.
            if body.startswith(AUTHOR_FIRST):
                author_id = 0
            tail = tails.get((author_id, pinned))
            if tail is None:
                tail = tails[author_id, pinned] = _tail(users.get(author_id, DELETED_USER), author_id, pinned)
            done.append(body[:-1] + tail)
            continue
        pieces = [_encode_one(row, users, viewer, parts)[:-1]]
        if has_reactions and message_id in reactions:
            pieces.append(b',"reactions":' + reactions[message_id])
        if replied_id is not None:
            original = replied.get(replied_id)
            shown = b"null" if original is None else _encode_one(original, users, viewer, parts)
            pieces.append(b',"referenced_message":' + shown)
        pieces.append(b"}")
        done.append(b"".join(pieces))
    return done


async def _parts_of(
    reader: Reader, channel_id: ChannelId, rows: Sequence[ShownRow], viewer: Viewer
) -> dict[int, bytes]:
    having = [(row[0], row[7]) for row in rows if row[7]]
    if not having:
        return {}
    hidden = {row[0] for row in rows if row[7] and not viewer.reads(row[1], mentioned_ids(row[4]))}
    return await encoded_parts(reader, channel_id, having, viewer.user_id, hidden=hidden)


async def message_bytes(
    reader: Reader, channel_id: ChannelId, message_ids: Iterable[int], viewer: Viewer
) -> dict[int, bytes]:
    """Messages of a channel as JSON, by id; ids that name none are left out."""
    rows = await select_shown(reader, channel_id, [int(message_id) for message_id in message_ids])
    encoded = await encode_rows(reader, channel_id, rows, viewer)
    return {row[0]: data for row, data in zip(rows, encoded, strict=True)}


def _people_of(*groups: Iterable[ShownRow]) -> set[int]:
    found: set[int] = set()
    for group in groups:
        for row in group:
            found.add(row[1])
            if row[4] is not None:
                found.update(mentioned_ids(row[4]))
    return found


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

    `author` is None where the body names them; `mentions` are user objects; `more` are further keys,
    each after a comma.
    """
    shown = b"" if author is None else b',"author":' + author
    return b'%b%b,"mentions":[%b],"pinned":%b%b}' % (
        body[:-1],
        shown,
        b",".join(mentions),
        b"true" if pinned else b"false",
        more,
    )
