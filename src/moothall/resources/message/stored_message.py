"""A stored message as JSON: the response to its author, and the dispatches of MESSAGE_CREATE and MESSAGE_UPDATE."""

from collections.abc import Sequence
from functools import partial

from msgspec import Struct, structs

from moothall.authority.channel_access import ChannelAccess
from moothall.objects.ids import UserId
from moothall.objects.wire import encode
from moothall.resources.message.body import EMPTY, Head, Text, encode_body, encode_stripped, names_author, strip_body
from moothall.resources.message.events import MessageCreate, MessageUpdate, route_of
from moothall.resources.message.extensions import NO_FRAGMENTS, Fragments, read_fragments
from moothall.resources.message.people import Person
from moothall.resources.message.queries import MessageRow
from moothall.resources.message.references import MessageReferences
from moothall.resources.message.rendering import DELETED_USER, Viewer, assemble
from moothall.storage.database import Reader


class StoredMessage(Struct, frozen=True, kw_only=True):
    """A message with everything that its response and its dispatch consist of."""

    access: ChannelAccess
    row: MessageRow
    head: Head
    text: Text
    references: MessageReferences
    nonce: str | int | None = None
    fragments: Fragments = NO_FRAGMENTS

    def response(self, viewer: Viewer) -> bytes:
        """The message as its author receives it in the response."""
        more = self._nonce() + self.fragments.whole.get(self.row.id, b"")
        if self.row.replied_id is not None:
            replied_to = self.references.replied_to
            hides = replied_to is not None and not viewer.reads(replied_to.author_id, replied_to.mentions or ())
            more += self._referenced_message(stripped=hides)
        mentions = [person.user for person in self._mentioned()]
        return assemble(self.row.body, self._author(self.row), mentions, pinned=self.row.pinned, more=more)

    def created(self) -> MessageCreate:
        """The event of a new message."""
        dispatch = partial(self._dispatch, self.row.body, self.head)
        return MessageCreate(route=route_of(self.access), dispatch=dispatch, readers=self._readers())

    def updated(self) -> MessageUpdate:
        """The event of a changed message. Its `tts` is false, so that clients do not read the message out again."""
        head, body = self.head, self.row.body
        if head.tts:
            head = structs.replace(head, tts=False)
            body = encode_body(head, self.text)
        dispatch = partial(self._dispatch, body, head)
        return MessageUpdate(route=route_of(self.access), dispatch=dispatch, readers=self._readers())

    def _dispatch(self, body: bytes, head: Head) -> tuple[bytes, bytes | None]:
        """The message for those who may read its text, and for the others; None if there is nothing to hide."""
        in_guild, is_reply = self.access.guild is not None, self.row.replied_id is not None
        author = self._author(self.row)
        more = b'%b,"channel_type":%d%b' % (self._nonce(), self.access.channel.type, self._where(author))
        mentions = [_with_member(person) if in_guild else person.user for person in self._mentioned()]
        whole = self.fragments.whole.get(self.row.id, b"")
        stripped = self.fragments.stripped.get(self.row.id, b"")
        shown = more + whole
        if is_reply:
            shown += self._referenced_message(stripped=False)
        message = assemble(body, author, mentions, pinned=self.row.pinned, more=shown)
        nothing_to_hide = self.text == EMPTY and self.references.replied_to is None and whole == stripped
        if not in_guild or nothing_to_hide:
            return message, None
        more += stripped
        if is_reply:
            more += self._referenced_message(stripped=True)
        return message, assemble(encode_stripped(head), author, mentions, pinned=self.row.pinned, more=more)

    def _where(self, author: bytes | None) -> bytes:
        """`guild_id`, and the author's `member`, each after a comma."""
        access = self.access
        if access.guild is None:
            guild_id = None if access.shown is None else access.shown[1]
            return b"" if guild_id is None else b',"guild_id":"%d"' % guild_id
        person = None if author is None else self.references.people.get(self.row.author_id)
        if person is None or person.member is None:
            return b',"guild_id":"%d"' % access.guild.id
        return b',"guild_id":"%d","member":%b' % (access.guild.id, person.member)

    def _referenced_message(self, *, stripped: bool) -> bytes:
        row, people = self.references.replied_to, self.references.people
        if row is None:
            return b',"referenced_message":null'
        body = strip_body(row.body) if stripped else row.body
        mentions = [people[user_id].user for user_id in row.mentions or () if user_id in people]
        more = (self.fragments.stripped if stripped else self.fragments.whole).get(row.id, b"")
        return b',"referenced_message":' + assemble(body, self._author(row), mentions, pinned=row.pinned, more=more)

    def _author(self, row: MessageRow) -> bytes | None:
        """The author object of a message; None if its body contains it."""
        if names_author(row.body):
            return None
        person = self.references.people.get(row.author_id)
        return DELETED_USER if person is None else person.user

    def _mentioned(self) -> Sequence[Person]:
        user_ids, people = self.references.mentioned.users, self.references.people
        return [people[user_id] for user_id in user_ids if user_id in people] if user_ids else ()

    def _readers(self) -> tuple[UserId, ...]:
        return (self.row.author_id, *self.references.mentioned.users)

    def _nonce(self) -> bytes:
        return b"" if self.nonce is None else b',"nonce":' + encode(self.nonce)


async def fragments_around(reader: Reader, row: MessageRow, replied_to: MessageRow | None) -> Fragments:
    """The fragments of a message and of the one that it replies to; no query if neither has any."""
    having = [(row.id, row.parts)] if row.parts else []
    if replied_to is not None and replied_to.parts:
        having.append((replied_to.id, replied_to.parts))
    return await read_fragments(reader, row.channel_id, having) if having else NO_FRAGMENTS


def _with_member(person: Person) -> bytes:
    if person.member is None:
        return person.user
    return b'%b,"member":%b}' % (person.user[:-1], person.member)
