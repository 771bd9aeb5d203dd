"""Creating messages: those of users and webhooks, and those that the server sends by itself."""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, Raw, UnsetType, structs

from moothall.api.context import Context
from moothall.api.hooks import Hook
from moothall.authority.channel_access import ChannelAccess
from moothall.objects.ids import MessageId, UserId
from moothall.objects.message import MessageReference
from moothall.objects.message_types import MessagePart, MessageType
from moothall.resources.channel.operations.direct_message import accept_by_writing, reopen_direct_message
from moothall.resources.channel.thread_activity.operations import (
    add_author_to_thread,
    add_mentioned_to_thread,
    count_message,
    unarchive_thread,
)
from moothall.resources.member.activity import touch_seen
from moothall.resources.message import queries
from moothall.resources.message.authors import Author, WebhookAuthor, author_id_of
from moothall.resources.message.body import NONE
from moothall.resources.message.building import (
    NewMessage,
    SystemMessage,
    build_message,
    build_system_message,
    row_of,
)
from moothall.resources.message.drafts import Draft, InteractionFields, OutgoingMessage
from moothall.resources.message.extensions import NO_FRAGMENTS, write_parts
from moothall.resources.message.operations.files import store_files
from moothall.resources.message.operations.nonces import claim_nonce
from moothall.resources.message.operations.previews import request_previews
from moothall.resources.message.queries.avatars import insert_avatar
from moothall.resources.message.references import (
    Mentioned,
    MessageReferences,
    find_people_in,
    resolve_references,
)
from moothall.resources.message.rendering import Viewer, viewer_in
from moothall.resources.message.rules import require_may_write, require_slowmode_over
from moothall.resources.message.stored_message import StoredMessage, fragments_around
from moothall.resources.message.submitted_content import check_message
from moothall.resources.read_state.operations import read_own_message
from moothall.resources.read_state.queries import insert_mentions

_FILES: Final = int(MessagePart.FILES)

MESSAGE_STORED: Final = Hook[[Context, StoredMessage], None]("message stored")
"""Called with every new message, in its transaction."""


async def create_message(ctx: Context, draft: Draft) -> bytes:
    """Send a message as the caller to the channel entered; the message as JSON.

    A second request with the same nonce and `enforce_nonce` within five minutes returns the first message. Raises
    Refusal as `require_may_write`, `require_slowmode_over` and `send_message`.
    """
    access, author_id = ctx.channel, ctx.actor.user_id
    await require_may_write(ctx)
    message_id = MessageId(ctx.ids.next())
    if draft.nonce is not None:
        earlier = await claim_nonce(ctx, access.id, author_id, draft, message_id)
        if earlier is not None:
            return earlier
    await require_slowmode_over(ctx, message_id)
    if access.guild is not None:
        touch_seen(ctx, access.guild.id, author_id)
    if access.not_accepted:
        await accept_by_writing(ctx, access)
    if access.is_thread:
        access = await add_author_to_thread(ctx, await unarchive_thread(ctx, access))
    return await send_message(ctx, access, author_id, draft, message_id=message_id, adds_mentioned=True)


async def send_message(
    ctx: Context,
    access: ChannelAccess,
    author: Author,
    draft: Draft,
    *,
    message_id: MessageId | None = None,
    adds_mentioned: bool = False,
    interaction: InteractionFields | None = None,
) -> bytes:
    """Store and announce a message of a user or webhook that may write to the channel; the message as JSON.

    With `adds_mentioned` the users that it mentions are added to the thread that it is sent to; the row then declares
    `JOINS`. The row must declare `MessageCreate`, for direct messages `DirectChannelCreate`, and unless the author is a
    bot or a webhook `CONTENT_SUBMITTED`. Raises Refusal as `resolve_references`, `check_message` and `build_message`.
    """
    message_id = MessageId(ctx.ids.next()) if message_id is None else message_id
    outgoing = OutgoingMessage(access=access, author=author, draft=draft, id=message_id, interaction=interaction)
    references = await resolve_references(ctx, outgoing)
    after_storing = await check_message(ctx, access, author, draft, references, id=message_id)
    message = build_message(ctx.services.links, outgoing, references)
    if adds_mentioned and access.is_thread:
        access = await add_mentioned_to_thread(ctx, access, references.mentioned.users)
    stored = await store_message(ctx, access, message)
    await request_previews(ctx, access, stored.row, stored.text)
    if after_storing is not None:
        await after_storing(ctx)
    return stored.response(Viewer(ctx.actor.user_id) if isinstance(author, WebhookAuthor) else viewer_in(ctx))


async def send_system_message(
    ctx: Context,
    access: ChannelAccess,
    author: Author,
    kind: MessageType,
    *,
    reference: MessageReference | UnsetType = UNSET,
    content: str = "",
    embeds: Raw = NONE,
    mentions: Sequence[UserId] = (),
    everyone: bool = False,
    parts: int = 0,
) -> MessageId:
    """Store and announce a message of a type that users cannot send, in the name of `author`; its id.

    `everyone` pings @everyone; `mentions` of users that do not exist are left out. The row must declare
    `MessageCreate`.
    """
    user_ids = {*mentions} if isinstance(author, WebhookAuthor) else {author_id_of(author), *mentions}
    people = await find_people_in(ctx, access, user_ids)
    mentioned = Mentioned([user_id for user_id in mentions if user_id in people], [], everyone=everyone)
    system = SystemMessage(type=kind, reference=reference, content=content, embeds=embeds, parts=parts)
    message_id, references = MessageId(ctx.ids.next()), MessageReferences(mentioned, people)
    await store_message(ctx, access, build_system_message(access.id, author, system, references, message_id))
    return message_id


async def store_message(ctx: Context, access: ChannelAccess, message: NewMessage) -> StoredMessage:
    """Store a new message with its files, avatar and poll, and announce it: the last stage of every new message.

    The row must declare `MessageCreate`, and for direct messages `DirectChannelCreate`.
    """
    head, draft, replied_to = message.head, message.draft, message.references.replied_to
    if access.is_thread:
        head = structs.replace(head, position=await count_message(ctx, access, head.id, head.type))
        message = structs.replace(message, head=head)
    row = row_of(access, message)
    await queries.insert_message(ctx.tx, row)
    await _store_mentions(ctx, access, message)
    if row.parts & _FILES:
        await store_files(ctx, row, () if draft is None else draft.attachments, source=message.source)
    if (avatar := message.avatar) is not None:
        await insert_avatar(ctx.tx, access.id, row.id, avatar.webhook_id, avatar.hash, avatar.url)
    if message.parts and draft is not None:
        await write_parts(ctx, access, row.id, draft)
    if access.guild is None:
        await reopen_direct_message(ctx, access, head.id)
    stored = StoredMessage(
        access=access,
        row=row,
        head=head,
        text=message.text,
        references=message.references,
        nonce=None if draft is None else draft.nonce,
        fragments=await fragments_around(ctx.tx, row, replied_to) if row.parts or replied_to else NO_FRAGMENTS,
    )
    ctx.emit(stored.created())
    await MESSAGE_STORED(ctx, stored)
    return stored


async def _store_mentions(ctx: Context, access: ChannelAccess, message: NewMessage) -> None:
    """Store whom a message mentions, and that its author, unless a bot, has read it."""
    mentioned, author_id, head = message.references.mentioned, message.author_id, message.head
    target_ids = {*mentioned.users, *mentioned.roles}
    if mentioned.everyone and access.guild is not None:
        target_ids.add(access.guild.id)
    if target_ids and access.shown is None:
        await insert_mentions(ctx.tx, access.id, head.id, author_id, sorted(target_ids))
    person = message.references.people.get(author_id)
    if person is not None and not person.bot:
        await read_own_message(ctx.tx, access, author_id, head.id, head.type, ctx.now)
