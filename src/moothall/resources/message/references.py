"""What a message refers to: users, roles, the message that it replies to or forwards, stickers.

The second stage of creating and of editing a message. It only reads, and ends in one `MessageReferences`.
"""

from collections.abc import Awaitable, Collection, Iterable, Sequence
from typing import Final

from msgspec import UNSET, Raw, Struct, structs
from msgspec.json import Decoder

from moothall.api.context import Context
from moothall.authority.channel_access import ChannelAccess, find_channel
from moothall.objects import errors
from moothall.objects.channel_types import VOICE
from moothall.objects.component import texts_of
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import RoleId, UserId
from moothall.objects.mentions import PARSE_KINDS, Mentions, allow, parse_all_mentions, parse_mentions, pings_author
from moothall.objects.message import AllowedMentions, MessageReference
from moothall.objects.message_types import WRITTEN, MessageFlags, MessagePart, MessageReferenceType
from moothall.objects.permissions import Permissions
from moothall.objects.sticker import StickerItem
from moothall.objects.wire import encode
from moothall.resources.message.attachment.queries import MessageKey
from moothall.resources.message.authors import Author, WebhookAuthor, author_id_of
from moothall.resources.message.body import Head
from moothall.resources.message.components import decode_components
from moothall.resources.message.drafts import MessageEdit, OutgoingMessage
from moothall.resources.message.people import Person, encoded_users, find_people
from moothall.resources.message.queries import MessageRow, lock_message_shared, select_message
from moothall.resources.message.rendering import viewer_of
from moothall.resources.message.requests import MessageReferenceInput
from moothall.resources.sticker.lookup import find_sendable_stickers

_WEBHOOK_MENTIONS: Final = ("users",)
_SNAPSHOT_KEYS: Final = (
    "type", "content", "embeds", "attachments", "timestamp", "edited_timestamp", "flags", "mention_roles", "stickers",
    "sticker_items", "components",
)  # fmt: skip
"""The keys of a message in its snapshot, besides `mentions`."""

_decode = Decoder(dict[str, Raw]).decode


class Mentioned(Struct, frozen=True):
    """The mentions of a message that exist and that its author may use."""

    users: list[UserId]
    roles: list[RoleId]
    everyone: bool


class ForwardedMessage(Struct, frozen=True):
    """A message as it is forwarded."""

    reference: MessageReference
    snapshots: Raw
    """`message_snapshots` as JSON."""
    source: MessageKey
    parts: int
    """`MessagePart.FILES` if it has files."""


class MessageReferences(Struct, frozen=True):
    """What a message refers to, looked up."""

    mentioned: Mentioned
    people: dict[int, Person]
    """Its author, the users that it mentions, and those of the message that it replies to, by id."""
    replied_to: MessageRow | None = None
    forwarded: ForwardedMessage | None = None
    stickers: Sequence[StickerItem] = ()


NO_REFERENCES: Final = MessageReferences(Mentioned([], [], everyone=False), {})


class MentioningText(Struct, frozen=True):
    """A text, or the texts of components, and the mentions in it that the request allows."""

    text: str | Sequence[str]
    allowed: AllowedMentions | None


async def resolve_references(ctx: Context, message: OutgoingMessage) -> MessageReferences:
    """Look up what a new message refers to.

    Raises Refusal as `find_replied_to`, `find_forwarded` and `find_sendable_stickers`.
    """
    draft = message.draft
    reference, forwarded = draft.reference, None
    replied_to = None if message.interaction is None else message.interaction.replied_to
    if reference is not None and draft.forwards:
        forwarded = await find_forwarded(ctx, reference)
    elif reference is not None and replied_to is None:
        replied_to = await find_replied_to(ctx, message.access, reference)
    text = MentioningText(texts_of(draft.components) if draft.layout else draft.content, draft.allowed_mentions)
    references = await _resolve_mentions(ctx, message.access, message.author, text, replied_to)
    if forwarded is None and not draft.sticker_ids:
        return references
    stickers = await find_sendable_stickers(ctx, message.access, draft.sticker_ids) if draft.sticker_ids else ()
    return structs.replace(references, forwarded=forwarded, stickers=stickers)


async def resolve_edit_references(ctx: Context, edit: MessageEdit) -> MessageReferences:
    """Look up what a message refers to after an edit; without new text it keeps its mentions."""
    row = edit.row
    replied_to = None if row.replied_id is None else await select_message(ctx.tx, edit.access.id, row.replied_id)
    text = _edited_text(edit)
    if text is not None:
        mentioning = MentioningText(text, edit.draft.allowed_mentions)
        return await _resolve_mentions(ctx, edit.access, edit.author, mentioning, replied_to)
    return await _stored_references(ctx, edit.access, row, edit.head, replied_to)


async def resolve_stored_references(
    ctx: Context, access: ChannelAccess, row: MessageRow, head: Head
) -> MessageReferences:
    """Look up what a stored message refers to."""
    replied_to = None if row.replied_id is None else await select_message(ctx.tx, access.id, row.replied_id)
    return await _stored_references(ctx, access, row, head, replied_to)


def _edited_text(edit: MessageEdit) -> str | list[str] | None:
    """The text of a message after an edit; None if the edit does not change it."""
    draft = edit.draft
    if not edit.layout:
        return None if draft.content is UNSET else draft.content
    if draft.components is not UNSET:
        return texts_of(draft.components)
    return texts_of(decode_components(edit.text.components)) if edit.converts else None


async def _stored_references(
    ctx: Context, access: ChannelAccess, row: MessageRow, head: Head, replied_to: MessageRow | None
) -> MessageReferences:
    user_ids = {row.author_id, *(row.mentions or ()), *_people_of(replied_to)}
    people = await find_people_in(ctx, access, user_ids)
    users = [UserId(user_id) for user_id in row.mentions or ()]
    return MessageReferences(Mentioned(users, head.mention_roles, head.mention_everyone), people, replied_to)


async def _resolve_mentions(
    ctx: Context, access: ChannelAccess, author: Author, text: MentioningText, replied_to: MessageRow | None
) -> MessageReferences:
    """Look up, in one query, every user that a message shows, and choose the mentions that its author may use."""
    by_webhook = isinstance(author, WebhookAuthor)
    mentions = parse_mentions(text.text) if isinstance(text.text, str) else parse_all_mentions(text.text)
    # The mentions of webhooks are those of users, unless the request allows others.
    default: Collection[str] = _WEBHOOK_MENTIONS if by_webhook else PARSE_KINDS
    named = allow(mentions, text.allowed, default=default)
    user_ids: set[int] = {*named.users, *_people_of(replied_to)}
    if not by_webhook:
        user_ids.add(author_id_of(author))
    people = await find_people_in(ctx, access, user_ids)
    mentioned = Mentioned([], [], everyone=False)
    if named.users or named.roles or named.everyone:
        mentioned = _choose_mentions(access, named, people, by_webhook=by_webhook)
    if replied_to is not None and replied_to.webhook_id is None and pings_author(text.allowed):
        author_id = replied_to.author_id
        if author_id in people and author_id not in mentioned.users:
            mentioned.users.append(author_id)
    return MessageReferences(mentioned, people, replied_to)


def _choose_mentions(
    access: ChannelAccess, named: Mentions, people: dict[int, Person], *, by_webhook: bool
) -> Mentioned:
    """The mentions of users and roles that exist.

    Roles that are not mentionable, @everyone and @here need MENTION_EVERYONE, which webhooks have.
    """
    users = [user_id for user_id in named.users if user_id in people]
    if access.guild is None:
        return Mentioned(users, [], everyone=False)
    anything = by_webhook or bool(access.permissions & Permissions.MENTION_EVERYONE)
    known, everyone_id = access.guild.roles, access.guild.everyone.id
    roles = [
        role_id
        for role_id in named.roles
        if role_id in known and role_id != everyone_id and (anything or known[role_id].mentionable)
    ]
    return Mentioned(users, roles, everyone=named.everyone and anything)


def _people_of(row: MessageRow | None) -> Iterable[int]:
    return () if row is None else (row.author_id, *(row.mentions or ()))


def find_people_in(ctx: Context, access: ChannelAccess, user_ids: Collection[int]) -> Awaitable[dict[int, Person]]:
    """Users by id, with their members in the guild of a channel."""
    return find_people(ctx.tx, user_ids, None if access.guild is None else access.guild.id)


async def find_replied_to(ctx: Context, access: ChannelAccess, reference: MessageReferenceInput) -> MessageRow | None:
    """The message that a reply refers to; None if it is deleted and the request allows that.

    Raises Refusal: 160002 without READ_MESSAGE_HISTORY; 50035 at `message_reference` for an unknown message, one of
    another channel, and a system message.
    """
    if not access.permissions & Permissions.READ_MESSAGE_HISTORY:
        raise Refusal(errors.REPLY_WITHOUT_HISTORY)
    guild_id = None if access.guild is None else access.guild.id
    if reference.channel_id not in {None, access.id} or reference.guild_id not in {None, guild_id}:
        refuse_field(
            "message_reference",
            FormCode.REPLIES_CANNOT_REFERENCE_OTHER_CHANNEL,
            "Cannot reply to a message in a different channel",
        )
    row = await select_message(ctx.tx, access.id, reference.message_id)
    if row is None and reference.fail_if_not_exists is not False:
        refuse_field("message_reference", FormCode.REPLIES_UNKNOWN_MESSAGE, "Unknown message")
    if row is not None and row.type not in WRITTEN:
        refuse_field(
            "message_reference", FormCode.REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE, "Cannot reply to a system message"
        )
    return row


async def find_forwarded(ctx: Context, reference: MessageReferenceInput) -> ForwardedMessage:
    """The message that a request forwards, in any channel that the caller may read.

    Raises Refusal: 404/10003 and 403/50001 for its channel, 403/160014 for a message that the caller may not
    read, 50035 at `message_reference` for an unknown message, 400/50068 for a message that cannot be forwarded: a
    system message, a poll, a forwarded message.
    """
    if reference.channel_id is None:
        refuse_field("message_reference.channel_id", *FieldError.required())
    user_id = ctx.actor.user_id
    access = await find_channel(ctx.services.states, ctx.tx, reference.channel_id, user_id, ctx.now, writes=ctx.writes)
    if access is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    needed = Permissions.VIEW_CHANNEL | (Permissions.CONNECT if access.channel.type in VOICE else 0)
    if access.permissions & needed != needed:
        raise Refusal(errors.MISSING_ACCESS)
    if not access.permissions & Permissions.READ_MESSAGE_HISTORY:
        raise Refusal(errors.FORWARD_UNREADABLE)
    # Not deleted before the copy of it has its files.
    row = await lock_message_shared(ctx.tx, access.id, reference.message_id)
    guild_id = None if access.guild is None else access.guild.id
    if row is None or reference.guild_id not in {None, guild_id}:
        refuse_field("message_reference", FormCode.REPLIES_UNKNOWN_MESSAGE, "Unknown message")
    if not viewer_of(ctx.actor, in_guild=access.guild is not None).reads(row.author_id, row.mentions or ()):
        raise Refusal(errors.FORWARD_UNREADABLE)
    if row.type not in WRITTEN or row.parts & MessagePart.POLL or row.flags & MessageFlags.HAS_SNAPSHOT:
        raise Refusal(errors.INVALID_MESSAGE_TYPE, message="This message cannot be forwarded")
    forward = structs.replace(message_reference(access, row), type=MessageReferenceType.FORWARD)
    source = (row.channel_id, row.id)
    return ForwardedMessage(forward, await _snapshots(ctx, row), source, row.parts & MessagePart.FILES)


def message_reference(access: ChannelAccess, row: MessageRow) -> MessageReference:
    """The `message_reference` of a message that refers to another one."""
    guild_id = UNSET if access.guild is None else access.guild.id
    return MessageReference(message_id=row.id, channel_id=access.id, guild_id=guild_id)


async def _snapshots(ctx: Context, row: MessageRow) -> Raw:
    body = _decode(row.body)
    users = await encoded_users(ctx.tx, set(map(int, row.mentions or ())))
    mentions = Raw(b"[%b]" % b",".join(users[user_id] for user_id in row.mentions or () if user_id in users))
    shown = {key: body[key] for key in _SNAPSHOT_KEYS if key in body} | {"mentions": mentions}
    return Raw(encode([{"message": shown}]))
