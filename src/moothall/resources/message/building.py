"""New messages, built from their draft and what it refers to: the third stage, without I/O.

`build_message` makes the message of a draft, `build_system_message` one that the server sends by itself. Both end in a
`NewMessage`; `row_of` is its row. Edits are built by `edits`.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import UNSET, Raw, Struct, UnsetType, structs

from moothall.api.file_links import FileLinks, has_placeholders, placeholder_file_ids
from moothall.authority.channel_access import ChannelAccess
from moothall.objects.ids import ChannelId, MessageId, Snowflake, UserId, WebhookId
from moothall.objects.message import Attachment, MessageReference
from moothall.objects.message_types import MessageFlags, MessagePart, MessageType
from moothall.objects.wire import Timestamp, encode
from moothall.resources.message.attachment.embeds import proxy_embeds
from moothall.resources.message.attachment.queries import MessageKey
from moothall.resources.message.authors import Author, WebhookAuthor, author_id_of
from moothall.resources.message.body import EMPTY, NONE, Head, Text, encode_body, encode_embeds
from moothall.resources.message.components import encode_components
from moothall.resources.message.drafts import Draft, InteractionFields, OutgoingMessage
from moothall.resources.message.queries import MessageRow
from moothall.resources.message.references import MessageReferences, message_reference

_DEFAULT: Final = MessageType.DEFAULT
_REPLY: Final = MessageType.REPLY
_FILES: Final = int(MessagePart.FILES)
_AVATAR: Final = int(MessagePart.AVATAR)


class MessageAvatar(Struct, frozen=True):
    """The avatar of one message of a webhook: a picture of another server."""

    webhook_id: WebhookId
    hash: str
    url: str


class NewMessage(Struct, frozen=True, kw_only=True):
    """A message that is ready to be stored."""

    author_id: UserId
    head: Head
    text: Text
    references: MessageReferences
    draft: Draft | None = None
    """The draft that it was built from; None for system messages and copies."""
    hidden_embeds: str | None = None
    """The embeds that SUPPRESS_EMBEDS hides, as JSON."""
    parts: int = 0
    """`MessagePart` bits."""
    source: MessageKey | None = None
    """The message that it is a copy of, and with whose files."""
    avatar: MessageAvatar | None = None
    """The avatar that a webhook gave to this message alone."""


class SystemMessage(Struct, frozen=True, kw_only=True):
    """The content of a message of a type that users cannot send."""

    type: MessageType
    reference: MessageReference | UnsetType = UNSET
    content: str = ""
    embeds: Raw = NONE
    parts: int = 0


def build_message(links: FileLinks, message: OutgoingMessage, references: MessageReferences) -> NewMessage:
    """The message of a draft. Raises Refusal 50035 if its components and attachments do not fit each other."""
    draft, channel_id, forwarded = message.draft, message.access.id, references.forwarded
    components = embeds = NONE
    if draft.components or draft.attachments:
        components = encode_components(draft.components, draft.attachments, layout=draft.layout)
        components = insert_file_placeholders(links, draft.attachments, components)
    if draft.embeds:
        embeds = insert_file_placeholders(links, draft.attachments, encode_embeds(proxy_embeds(draft.embeds, links)))
    suppresses = bool(draft.flags & MessageFlags.SUPPRESS_EMBEDS) and bool(draft.embeds)
    head = Head(
        id=message.id,
        channel_id=channel_id,
        type=_DEFAULT if references.replied_to is None else _REPLY,
        timestamp=Timestamp(Snowflake(message.id).created_ms),
        tts=draft.tts,
        mention_everyone=references.mentioned.everyone,
        mention_roles=references.mentioned.roles,
        flags=draft.flags if forwarded is None else draft.flags | MessageFlags.HAS_SNAPSHOT,
        message_reference=_reference_of(message.access, references),
        sticker_items=list(references.stickers) if references.stickers else UNSET,
        activity=UNSET if draft.activity is None else draft.activity,
        application=UNSET if draft.application is None else draft.application,
    )
    if message.interaction is not None:
        head = _with_interaction(head, message.interaction)
    avatar = _avatar_of(message.author)
    return NewMessage(
        author_id=author_id_of(message.author),
        head=_with_webhook(head, message.author),
        text=Text(
            content=draft.content,
            embeds=NONE if suppresses else embeds,
            attachments=list_files(links, draft.attachments, embeds, components) if draft.attachments else NONE,
            components=components,
            message_snapshots=UNSET if forwarded is None else forwarded.snapshots,
        ),
        references=references,
        draft=draft,
        hidden_embeds=bytes(embeds).decode() if suppresses else None,
        parts=(draft.parts if forwarded is None else forwarded.parts) | (0 if avatar is None else _AVATAR),
        source=None if forwarded is None else forwarded.source,
        avatar=avatar,
    )


def build_system_message(
    channel_id: ChannelId, author: Author, system: SystemMessage, references: MessageReferences, message_id: MessageId
) -> NewMessage:
    """A message that the server sends in the name of the user or webhook that caused it."""
    head = Head(
        id=message_id,
        channel_id=channel_id,
        type=system.type,
        timestamp=Timestamp(Snowflake(message_id).created_ms),
        mention_everyone=references.mentioned.everyone,
        message_reference=system.reference,
    )
    avatar = _avatar_of(author)
    return NewMessage(
        author_id=author_id_of(author),
        head=_with_webhook(head, author),
        text=structs.replace(EMPTY, content=system.content, embeds=system.embeds),
        references=references,
        parts=system.parts | (0 if avatar is None else _AVATAR),
        avatar=avatar,
    )


def row_of(access: ChannelAccess, message: NewMessage) -> MessageRow:
    """The row of a new message."""
    head, replied_to = message.head, message.references.replied_to
    mentioned = message.references.mentioned.users
    return with_files_part(
        MessageRow(
            channel_id=access.id,
            id=head.id,
            guild_id=None if access.guild is None else access.guild.id,
            author_id=message.author_id,
            webhook_id=None if head.webhook_id is UNSET else head.webhook_id,
            type=head.type,
            flags=head.flags,
            pinned=False,
            reacted=False,
            replied_id=None if replied_to is None else replied_to.id,
            mentions=[Snowflake(user_id) for user_id in mentioned] if mentioned else None,
            body=encode_body(head, message.text),
            hidden_embeds=message.hidden_embeds,
            parts=message.parts,
        )
    )


def insert_file_placeholders(links: FileLinks, files: Iterable[Attachment], encoded: Raw) -> Raw:
    """JSON of a body, with placeholders in place of the URLs of `files`, which the message has, and of signed URLs.

    Media of other servers in components get proxied URLs.
    """
    if encoded is NONE:
        return encoded
    data = bytes(encoded)
    stored = links.proxy_components(links.insert_placeholders(data, (file.url for file in files)))
    return encoded if stored is data else Raw(stored)


def list_files(links: FileLinks, files: Sequence[Attachment], *others: Raw) -> Raw:
    """The `attachments` of a message as JSON: the `files` that `others`, its embeds and components, do not show."""
    if not files:
        return NONE
    shown = placeholder_file_ids(b"".join(bytes(other) for other in others))
    listed = [file for file in files if file.id not in shown]
    return insert_file_placeholders(links, listed, Raw(encode(listed))) if listed else NONE


def with_files_part(row: MessageRow) -> MessageRow:
    """A row with `MessagePart.FILES` set if its message has files, else cleared."""
    named = has_placeholders(row.body) or (
        row.hidden_embeds is not None and has_placeholders(row.hidden_embeds.encode())
    )
    parts = row.parts | _FILES if named else row.parts & ~_FILES
    return row if parts == row.parts else structs.replace(row, parts=int(parts))


def _reference_of(access: ChannelAccess, references: MessageReferences) -> MessageReference | UnsetType:
    if references.forwarded is not None:
        return references.forwarded.reference
    return UNSET if references.replied_to is None else message_reference(access, references.replied_to)


def _avatar_of(author: Author) -> MessageAvatar | None:
    if not isinstance(author, WebhookAuthor) or author.avatar is None or author.avatar_url is None:
        return None
    return MessageAvatar(author.webhook_id, author.avatar, author.avatar_url)


def _with_webhook(head: Head, author: Author) -> Head:
    if not isinstance(author, WebhookAuthor):
        return head
    return structs.replace(
        head,
        author=Raw(author.encoded()),
        webhook_id=author.webhook_id,
        application_id=UNSET if author.application_id is None else author.application_id,
    )


def _with_interaction(head: Head, fields: InteractionFields) -> Head:
    reference: MessageReference | UnsetType = UNSET
    if fields.replied_to is not None:
        guild_id = UNSET if fields.guild_id is None else fields.guild_id
        reference = MessageReference(message_id=fields.replied_to.id, channel_id=fields.channel_id, guild_id=guild_id)
    return structs.replace(
        head,
        channel_id=fields.channel_id,
        type=fields.type,
        flags=fields.flags,
        webhook_id=WebhookId(fields.application_id),
        application_id=fields.application_id,
        message_reference=reference,
        interaction_metadata=fields.metadata,
        interaction=fields.interaction,
    )
