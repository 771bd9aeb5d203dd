"""The index entry of a stored message: its words and its facets.

A facet is a letter and a value. Ids are written as they are, texts are hashed:

    g guild        v channel, for threads its parent    c channel or thread     x in a private thread
    a author       t user, bot or webhook               m mentioned user        r mentioned role
    e @everyone    i message replied to                 u its author            p pinned
    h has          b type of an embed                   o provider of an embed  l host of a link
    f file name    k file extension
"""

import hashlib
import logging
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct

from moothall.objects.channel_types import DIRECT, THREADS, ChannelType
from moothall.objects.ids import ChannelId, GuildId, MessageId, Snowflake, UserId, WebhookId
from moothall.objects.json_object import JsonObject
from moothall.objects.message_types import MessagePart
from moothall.objects.wire import decoder
from moothall.resources.message.search.terms import WORDS_MAX, words_of

log = logging.getLogger("moothall.search")

_LINK: Final = re.compile(r"https?://[^\s<>|]+", re.IGNORECASE)
_MEDIA: Final = ("image", "video", "audio")
_SHOWN_AS: Final = {"gifv": "gif", "link": "article", "audio": "sound"}
_MAX_DEPTH: Final = 8
_TEXT_DISPLAY: Final = 10


class IndexedMessage(Struct):
    """A message with everything that its index entry depends on."""

    channel_id: ChannelId
    id: MessageId
    guild_id: GuildId | None
    author_id: UserId
    webhook_id: WebhookId | None
    pinned: bool
    replied_id: MessageId | None
    mentions: list[Snowflake] | None
    body: bytes
    parts: int
    by_bot: bool | None
    kind: int | None
    parent_id: ChannelId | None
    replied_author_id: UserId | None
    poll: str | None

    @property
    def searchable(self) -> bool:
        """Whether searches may return the message: it is in a guild or a direct message, and not ephemeral."""
        return self.guild_id is not None or self.kind in DIRECT


class Document(Struct, frozen=True):
    """An index entry."""

    channel_id: ChannelId
    message_id: MessageId
    facets: list[str]
    words: list[str]


class _Body(Struct, frozen=True):
    content: str = ""
    mention_everyone: bool = False
    mention_roles: list[str] = []
    embeds: list[JsonObject] = []
    attachments: list[JsonObject] = []
    components: list[Any] = []
    sticker_items: list[Any] = []
    message_snapshots: list[JsonObject] = []


class _Poll(Struct, frozen=True):
    question: JsonObject = {}
    answers: list[JsonObject] = []


def hashed(letter: str, text: str) -> str:
    """The facet of a text."""
    return letter + hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def text_of(body: bytes, poll: str | None = None) -> str:
    """All text of a stored message."""
    read: _Body = decoder(_Body).decode(body)
    return "\n".join(_texts(read, poll))


def document_of(row: IndexedMessage) -> Document:
    """The entry of a message; of an unreadable one only its guild and channel."""
    try:
        return _read(row)
    except Exception:
        # One unreadable message must not keep later ones out of the index.
        log.exception("message %d cannot be indexed", row.id)
        return Document(row.channel_id, row.id, list(_location_facets(row)), [])


def _read(row: IndexedMessage) -> Document:
    body: _Body = decoder(_Body).decode(row.body)
    texts = list(_texts(body, row.poll))
    facets = dict.fromkeys((*_location_facets(row), *_people_facets(row, body), *_content_facets(row, body, texts)))
    words: list[str] = []
    for text in texts:
        words += words_of(text)
        if len(words) >= WORDS_MAX:
            break
    return Document(row.channel_id, row.id, list(facets), words[:WORDS_MAX])


def _location_facets(row: IndexedMessage) -> Iterator[str]:
    in_thread = row.kind in THREADS and row.parent_id is not None
    yield f"g{int(row.guild_id or 0)}"
    yield f"v{int(row.parent_id if in_thread and row.parent_id is not None else row.channel_id)}"
    yield f"c{int(row.channel_id)}"
    if row.kind == ChannelType.PRIVATE_THREAD:
        yield "x"


def _people_facets(row: IndexedMessage, body: _Body) -> Iterator[str]:
    yield f"a{int(row.author_id)}"
    yield "twebhook" if row.webhook_id is not None else "tbot" if row.by_bot else "tuser"
    yield from (f"m{int(user_id)}" for user_id in row.mentions or ())
    yield from (f"r{role_id}" for role_id in body.mention_roles if role_id.isdigit())
    if body.mention_everyone:
        yield "e"
    if row.replied_id is not None:
        yield f"i{int(row.replied_id)}"
    if row.replied_author_id is not None:
        yield f"u{int(row.replied_author_id)}"


def _content_facets(row: IndexedMessage, body: _Body, texts: list[str]) -> Iterator[str]:
    if row.pinned:
        yield "p"
    if row.poll is not None or row.parts & MessagePart.POLL:
        yield "hpoll"
    if body.sticker_items:
        yield "hsticker"
    if body.message_snapshots:
        yield "hsnapshot"
    for message in (body, *(_snapshot(item) for item in body.message_snapshots)):
        yield from _file_facets(message.attachments)
        yield from _embed_facets(message.embeds)
    links = [host for text in texts for host in map(_host, _LINK.findall(text)) if host]
    if links:
        yield "hlink"
    for host in links:
        # A link has a facet for its host and for every parent domain.
        labels = host.split(".")
        yield from (hashed("l", ".".join(labels[n:])) for n in range(max(1, len(labels) - 1)))


def _file_facets(attachments: Iterable[JsonObject]) -> Iterator[str]:
    for attachment in attachments:
        yield "hfile"
        media = str(attachment.get("content_type", "")).partition("/")[0]
        if media in _MEDIA:
            yield "hsound" if media == "audio" else f"h{media}"
        name = str(attachment.get("filename", "")).lower()
        stem, dot, extension = name.rpartition(".")
        yield hashed("f", name)
        if dot:
            yield hashed("f", stem)
            yield hashed("k", extension)


def _embed_facets(embeds: Iterable[JsonObject]) -> Iterator[str]:
    for embed in embeds:
        yield "hembed"
        kind = str(embed.get("type", "rich"))
        yield f"b{_SHOWN_AS.get(kind, kind)}" if kind.isalnum() else "brich"
        for key in ("image", "video"):
            if embed.get(key) or (key == "image" and embed.get("thumbnail")):
                yield f"h{key}"
                yield f"b{key}"
        provider = embed.get("provider")
        if isinstance(provider, dict) and isinstance(provider.get("name"), str):
            yield hashed("o", provider["name"])


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


def _snapshot(item: JsonObject) -> _Body:
    message = item.get("message")
    if not isinstance(message, dict):
        return _Body()
    return _Body(
        content=str(message.get("content") or ""),
        embeds=_objects(message.get("embeds")),
        attachments=_objects(message.get("attachments")),
        components=message.get("components") or [],
    )


def _objects(listed: object) -> list[JsonObject]:
    return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []


def _texts(body: _Body, poll: str | None) -> Iterator[str]:
    yield body.content
    for embed in body.embeds:
        yield from _embed_texts(embed)
    yield from _component_texts(body.components, 0)
    for attachment in body.attachments:
        yield str(attachment.get("filename", ""))
        yield str(attachment.get("description") or "")
    if poll is not None:
        question_and_answers: _Poll = decoder(_Poll).decode(poll.encode())
        yield str(question_and_answers.question.get("text", ""))
        for answer in question_and_answers.answers:
            media = answer.get("poll_media")
            yield str(media.get("text", "")) if isinstance(media, dict) else ""
    for item in body.message_snapshots:
        yield from _texts(_snapshot(item), None)


def _embed_texts(embed: JsonObject) -> Iterator[str]:
    for key in ("title", "description"):
        yield str(embed.get(key) or "")
    for part, key in (("author", "name"), ("footer", "text")):
        inner = embed.get(part)
        yield str(inner.get(key) or "") if isinstance(inner, dict) else ""
    for field in _objects(embed.get("fields")):
        yield str(field.get("name") or "")
        yield str(field.get("value") or "")


def _component_texts(components: object, depth: int) -> Iterator[str]:
    for component in _objects(components):
        if component.get("type") == _TEXT_DISPLAY:
            yield str(component.get("content") or "")
        elif depth < _MAX_DEPTH:
            yield from _component_texts(component.get("components"), depth + 1)
