"""The stored body of a message: the keys that only its author changes, encoded once (resources: message).

It is a JSON object with the keys of `Head`, then those of `Text`. `rendering` appends the others.
"""

from typing import Final

from msgspec import UNSET, Raw, Struct, UnsetType

from moothall.objects.application import IntegrationApplication
from moothall.objects.channel import ChannelMention
from moothall.objects.embed import Embed
from moothall.objects.ids import ApplicationId, ChannelId, MessageId, RoleId, WebhookId
from moothall.objects.message import MessageActivity, MessageReference
from moothall.objects.sticker import StickerItem
from moothall.objects.wire import Timestamp, decoder, encode


class Head(Struct, frozen=True, kw_only=True):
    """The keys of a message that every viewer may read."""

    author: Raw | UnsetType = UNSET
    """Only for a message of a webhook, whose author is no user."""
    id: MessageId
    channel_id: ChannelId
    type: int
    timestamp: Timestamp
    edited_timestamp: Timestamp | None = None
    tts: bool = False
    mention_everyone: bool = False
    mention_roles: list[RoleId] = []
    mention_channels: list[ChannelMention] | UnsetType = UNSET
    """Only for copies of published messages: the mentioned channels of the source that @everyone may view."""
    activity: MessageActivity | UnsetType = UNSET
    application: IntegrationApplication | UnsetType = UNSET
    """The application of the activity, as it was when the message was sent."""
    flags: int = 0
    webhook_id: WebhookId | UnsetType = UNSET
    application_id: ApplicationId | UnsetType = UNSET
    message_reference: MessageReference | UnsetType = UNSET
    interaction_metadata: Raw | UnsetType = UNSET
    interaction: Raw | UnsetType = UNSET
    """The deprecated form of `interaction_metadata`."""
    sticker_items: list[StickerItem] | UnsetType = UNSET
    position: int | UnsetType = UNSET
    """The approximate position in the thread."""


class Text(Struct, frozen=True, kw_only=True):
    """The keys of a message that bots may read only with the MESSAGE_CONTENT intent."""

    content: str
    embeds: Raw
    attachments: Raw
    components: Raw
    message_snapshots: Raw | UnsetType = UNSET
    """The forwarded message."""


NONE: Final = Raw(b"[]")
EMPTY: Final = Text(content="", embeds=NONE, attachments=NONE, components=NONE)

_EMPTY_TAIL: Final = encode(EMPTY)[1:]
AUTHOR_FIRST: Final = b'{"author"'
"""The beginning of a body that contains its author."""

_heads = decoder(Head)
_texts = decoder(Text)


def encode_body(head: Head, text: Text) -> bytes:
    """The stored body."""
    return b"%b,%b" % (encode(head)[:-1], encode(text)[1:])


def encode_stripped(head: Head) -> bytes:
    """The body for viewers who may not read the text."""
    return b"%b,%b" % (encode(head)[:-1], _EMPTY_TAIL)


def decode_head(body: bytes) -> Head:
    """The head of a stored body."""
    head: Head = _heads.decode(body)
    return head


def decode_text(body: bytes) -> Text:
    """The text of a stored body."""
    text: Text = _texts.decode(body)
    return text


def strip_body(body: bytes) -> bytes:
    """A stored body without its text."""
    return encode_stripped(decode_head(body))


def names_author(body: bytes) -> bool:
    """Whether a body contains its author."""
    return body.startswith(AUTHOR_FIRST)


def encode_embeds(embeds: list[Embed]) -> Raw:
    """Embeds as a JSON array."""
    return Raw(encode(embeds)) if embeds else NONE
