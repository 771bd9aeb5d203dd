"""From a draft to a stored and announced message: what it mentions, what it answers, its bytes."""

from collections.abc import Collection, Sequence
from functools import partial
from typing import Final

from msgspec import UNSET, Struct, structs

from moothall.kernel.channel_access import ChannelAccess
from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ApplicationId, MessageId, RoleId, UserId, WebhookId
from moothall.objects.mentions import PARSE_KINDS, allow, parse_all_mentions, parse_mentions, pings_author
from moothall.objects.message import AllowedMentions, MessageReference
from moothall.objects.message_types import WRITTEN
from moothall.objects.permissions import Permissions
from moothall.objects.user import User
from moothall.objects.wire import encode
from moothall.resources.message.body import EMPTY, Head, Text, encode_body, encode_stripped, names_author, strip_body
from moothall.resources.message.drafts import MessageReferenceInput
from moothall.resources.message.events import MessageCreate, MessageUpdate, route_of
from moothall.resources.message.pages import DELETED_USER, Viewer, assemble
from moothall.resources.message.parts import NO_PARTS, Parts, find_parts
from moothall.resources.message.people import Person, find_people
from moothall.resources.message.queries import MessageRow, select_message
from moothall.storage.database import Reader

_WEBHOOK_MENTIONS: Final = ("users",)


class WebhookAuthor(Struct, frozen=True, kw_only=True):
    """How a webhook shows itself in one message."""

    webhook_id: WebhookId
    name: str
    avatar: str | None = None
    """An image hash; a URL that was given instead goes where hashes go, as the public API has it."""
    application_id: ApplicationId | None = None

    def encoded(self) -> bytes:
        """The author object of its messages."""
        return encode(
            User(id=UserId(self.webhook_id), username=self.name, discriminator="0000", avatar=self.avatar, bot=True)
        )


Author = UserId | WebhookAuthor


def id_of(author: Author) -> UserId:
    """The id that stands for an author: a webhook's own for a persona."""
    return UserId(author.webhook_id) if isinstance(author, WebhookAuthor) else author


class Mentioned(Struct, frozen=True):
    """What a message mentions, of what exists and may be mentioned."""

    users: list[UserId]
    roles: list[RoleId]
    everyone: bool


class MessageReferences(Struct, frozen=True):
    """A message's mentions, and everybody who appears in it."""

    mentioned: Mentioned
    people: dict[int, Person]


async def find_original(
    ctx: Context, access: ChannelAccess, reference: MessageReferenceInput | None
) -> MessageRow | None:
    """The message that a draft answers; None if it answers none, or one that is gone and need not exist.

    Raises Refusal: 160002 without READ_MESSAGE_HISTORY, 50035 at `message_reference` for a message
    unknown, elsewhere, or nobody's.
    """
    if reference is None:
        return None
    if not access.permissions & Permissions.READ_MESSAGE_HISTORY:
        raise Refusal(errors.REPLY_WITHOUT_HISTORY)
    guild_id = None if access.guild is None else access.guild.id
    if reference.channel_id not in {None, access.id} or reference.guild_id not in {None, guild_id}:
        refuse_field(
            "message_reference",
            FormCode.REPLIES_CANNOT_REFERENCE_OTHER_CHANNEL,
            "Cannot reply to a message in a different channel",
        )
    found = await select_message(ctx.tx, access.id, reference.message_id)
    if found is None and reference.fail_if_not_exists is not False:
        refuse_field("message_reference", FormCode.REPLIES_UNKNOWN_MESSAGE, "Unknown message")
    if found is not None and found.type not in WRITTEN:
        refuse_field(
            "message_reference", FormCode.REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE, "Cannot reply to a system message"
        )
    return found


async def find_references(
    ctx: Context,
    access: ChannelAccess,
    author: Author,
    *,
    content: str | Sequence[str],
    allowed: AllowedMentions | None,
    original: MessageRow | None,
) -> MessageReferences:
    """Look up, in one query, everybody whom a message shows, and settle what it mentions.

    `content` is its text, or those of its components.

    Roles that are not mentionable, @everyone and @here need MENTION_EVERYONE, which webhooks have;
    unless asked for otherwise they mention users only.
    """
    webhook_author = isinstance(author, WebhookAuthor)
    default: Collection[str] = _WEBHOOK_MENTIONS if webhook_author else PARSE_KINDS
    mentions = parse_mentions(content) if isinstance(content, str) else parse_all_mentions(content)
    named = allow(mentions, allowed, default=default)
    wanted: set[int] = set(named.users)
    if not webhook_author:
        wanted.add(id_of(author))
    if original is not None:
        wanted.add(original.author_id)
        wanted.update(original.mentions or ())
    people = await find_people(ctx.tx, wanted, None if access.guild is None else access.guild.id) if wanted else {}
    users = [user_id for user_id in named.users if user_id in people]
    if (
        original is not None
        and original.webhook_id is None
        and original.author_id in people
        and original.author_id not in users
        and pings_author(allowed)
    ):
        users.append(original.author_id)
    roles: list[RoleId] = []
    everyone = False
    if access.guild is not None:
        everything = webhook_author or bool(access.permissions & Permissions.MENTION_EVERYONE)
        known, own = access.guild.roles, access.guild.everyone.id
        roles = [r for r in named.roles if r in known and r != own and (everything or known[r].mentionable)]
        everyone = named.everyone and everything
    return MessageReferences(Mentioned(users, roles, everyone), people)


class Written(Struct, frozen=True, kw_only=True):
    """A message with everything that its answer and its dispatch consist of."""

    access: ChannelAccess
    row: MessageRow
    head: Head
    text: Text
    author: bytes | None
    """The author's user object; None where the body names the author."""
    cast: MessageReferences
    original: MessageRow | None = None
    answers: bool = False
    """Whether it is a reply, even to a message that is gone."""
    nonce: str | int | None = None
    parts: Parts = NO_PARTS

    def answer(self, viewer: Viewer, *, reactions: bytes | None = None) -> bytes:
        """The message as its author gets it back."""
        more = self._nonce() + self.parts.whole.get(self.row.id, b"")
        if reactions is not None:
            more += b',"reactions":' + reactions
        if self.answers:
            original = self.original
            hides = original is not None and not viewer.reads(original.author_id, original.mentions or ())
            more += self._original(stripped=hides)
        people = self.cast.people
        mentions = [people[user_id].user for user_id in self._mentions()]
        return assemble(self.row.body, self.author, mentions, pinned=self.row.pinned, more=more)

    def created(self) -> MessageCreate:
        """What tells of it when it is new."""
        dispatch = partial(self._dispatch, self.row.body, self.head)
        return MessageCreate(route=route_of(self.access), dispatch=dispatch, readers=self._readers())

    def updated(self) -> MessageUpdate:
        """What tells of it when something of it has changed."""
        head, body = self.head, self.row.body
        if head.tts:
            head = structs.replace(head, tts=False)  # nothing is read out a second time
            body = encode_body(head, self.text)
        dispatch = partial(self._dispatch, body, head)
        return MessageUpdate(route=route_of(self.access), dispatch=dispatch, readers=self._readers())

    def _dispatch(self, body: bytes, head: Head) -> tuple[bytes, bytes | None]:
        access, people = self.access, self.cast.people
        more = b'%b,"channel_type":%d' % (self._nonce(), access.channel.type)
        whole_parts = self.parts.whole.get(self.row.id, b"")
        stripped_parts = self.parts.stripped.get(self.row.id, b"")
        if access.guild is not None:
            more += b',"guild_id":"%d"' % access.guild.id
            known = None if self.author is None else people.get(self.row.author_id)
            if known is not None and known.member is not None:
                more += b',"member":' + known.member
            mentions = [_with_member(people[user_id]) for user_id in self._mentions()]
        else:
            if access.shown is not None and access.shown[1] is not None:
                more += b',"guild_id":"%d"' % access.shown[1]
            mentions = [people[user_id].user for user_id in self._mentions()]
        whole = more + whole_parts
        if self.answers:
            whole += self._original(stripped=False)
        message = assemble(body, self.author, mentions, pinned=self.row.pinned, more=whole)
        nothing_to_hide = self.text == EMPTY and self.original is None and whole_parts == stripped_parts
        if access.guild is None or nothing_to_hide:
            return message, None
        less = more + stripped_parts
        if self.answers:
            less += self._original(stripped=True)
        return message, assemble(encode_stripped(head), self.author, mentions, pinned=self.row.pinned, more=less)

    def _original(self, *, stripped: bool) -> bytes:
        if self.original is None:
            return b',"referenced_message":null'
        row, people = self.original, self.cast.people
        body = strip_body(row.body) if stripped else row.body
        mentions = [people[user_id].user for user_id in row.mentions or () if user_id in people]
        parts = (self.parts.stripped if stripped else self.parts.whole).get(row.id, b"")
        author = author_in(row, people)
        return b',"referenced_message":' + assemble(body, author, mentions, pinned=row.pinned, more=parts)

    def _mentions(self) -> Sequence[UserId]:
        return [user_id for user_id in self.cast.mentioned.users if user_id in self.cast.people]

    def _readers(self) -> tuple[int, ...]:
        return (int(self.row.author_id), *map(int, self.cast.mentioned.users))

    def _nonce(self) -> bytes:
        return b"" if self.nonce is None else b',"nonce":' + encode(self.nonce)


def author_in(row: MessageRow, people: dict[int, Person]) -> bytes | None:
    """The author object of a stored message; None where the body names the author."""
    if names_author(row.body):
        return None
    found = people.get(row.author_id)
    return DELETED_USER if found is None else found.user


async def parts_around(reader: Reader, row: MessageRow, original: MessageRow | None) -> Parts:
    """The parts of a message and of the one that it answers; without any this costs nothing."""
    having = [(found.id, found.parts) for found in (row, original) if found is not None and found.parts]
    return await find_parts(reader, row.channel_id, having) if having else NO_PARTS


def reference_to(access: ChannelAccess, message_id: MessageId) -> MessageReference:
    """How a message refers to another one of its channel."""
    return MessageReference(
        message_id=message_id, channel_id=access.id, guild_id=UNSET if access.guild is None else access.guild.id
    )


def _with_member(person: Person) -> bytes:
    if person.member is None:
        return person.user
    return b'%b,"member":%b}' % (person.user[:-1], person.member)
