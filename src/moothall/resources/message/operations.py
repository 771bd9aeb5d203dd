"""The verbs of messages: what other nouns call, and the only place that stores, changes or deletes one."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from msgspec import UNSET, Raw, UnsetType, structs

from moothall.kernel.channel_access import ChannelAccess, hearers_of_private
from moothall.kernel.context import Context
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogEvent, AuditLogOptions
from moothall.objects.channel_types import THREADS, ChannelType
from moothall.objects.component import texts_of
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, GuildId, MessageId, Snowflake, UserId, snowflake_at
from moothall.objects.message import MessageReference
from moothall.objects.message_types import UNDELETABLE, MessageFlags, MessageType
from moothall.objects.permissions import Permissions
from moothall.resources.channel.thread_activity.operations import (
    add_author_to_thread,
    add_mentioned_to_thread,
    unarchive_thread,
    uncount_messages,
    uncount_messages_in_threads,
)
from moothall.resources.channel.thread_activity.queries import select_private_members
from moothall.resources.channel.thread_activity.rules import require_not_archived_and_locked
from moothall.resources.member.activity import touch_seen
from moothall.resources.message import queries
from moothall.resources.message.body import (
    EMPTY,
    NONE,
    Head,
    Text,
    decode_head,
    decode_text,
    encode_embeds,
)
from moothall.resources.message.copies import renew_copies
from moothall.resources.message.drafts import Draft
from moothall.resources.message.events import (
    MessageDelete,
    MessageDeleteBulk,
    route_in_guild,
    route_of,
)
from moothall.resources.message.files import list_files, mark_files
from moothall.resources.message.forwards import find_forwarded
from moothall.resources.message.layouts import (
    encode_components,
)
from moothall.resources.message.nonces import taken_nonce
from moothall.resources.message.pages import Viewer, viewer_in
from moothall.resources.message.people import find_people
from moothall.resources.message.queries import MessageRow
from moothall.resources.message.rules import (
    message_id_moment,
    require_may_write,
    require_slowmode_over,
)
from moothall.resources.message.storing import store_message
from moothall.resources.message.writing import (
    Author,
    Mentioned,
    MessageReferences,
    WebhookAuthor,
    Written,
    author_in,
    find_original,
    find_references,
    id_of,
    parts_around,
    reference_to,
)
from moothall.resources.sticker.using import find_sendable

_MS_PER_SECOND: Final = 1000


async def create_message(ctx: Context, draft: Draft) -> bytes:
    """Send a message as the caller into the channel entered; the message as JSON.

    Sending it again with the same nonce and `enforce_nonce` within a few minutes answers the first
    one. Raises Refusal for whatever keeps the caller from writing; see `rules` and `find_original`.
    """
    access, author_id = ctx.channel, ctx.actor.user_id
    await require_may_write(ctx)
    message_id = MessageId(ctx.ids.next())
    if draft.nonce is not None:
        earlier = await taken_nonce(ctx, access.id, author_id, draft, message_id)
        if earlier is not None:
            return earlier
    await require_slowmode_over(ctx, message_id)
    if access.guild is not None:
        touch_seen(ctx, access.guild.id, author_id)
    access = await add_author_to_thread(ctx, await unarchive_thread(ctx, access))
    return await send_message(ctx, access, author_id, draft, message_id=message_id, invites=True)


async def send_message(
    ctx: Context,
    access: ChannelAccess,
    author: Author,
    draft: Draft,
    *,
    message_id: MessageId | None = None,
    invites: bool = False,
    answers: MessageRow | None = None,
    more: Mapping[str, Any] | None = None,
) -> bytes:
    """Store and announce a message of a user's or of a webhook's; the message as JSON.

    Whether the author may write is the caller's to have asked, but for replies (see
    `find_original`). The row must declare `MessageCreate`, and if it can be in a direct message
    `DirectChannelCreate`. With `invites` those whom it mentions come into the thread that it is in,
    for which the row declares `ADD_MEMBER_EVENTS`. `answers` is what it is a reply to, whatever its draft says, and
    `more` are fields of its head that no draft has.
    """
    message_id = MessageId(ctx.ids.next()) if message_id is None else message_id
    forwarded = await find_forwarded(ctx, draft.reference) if draft.reference is not None and draft.forwards else None
    original = answers
    if forwarded is None and original is None:
        original = await find_original(ctx, access, draft.reference)
    files = draft.attachments
    components = mark_files(ctx, files, encode_components(draft.components, files, layout=draft.layout))
    content = texts_of(draft.components) if draft.layout else draft.content
    cast = await find_references(
        ctx, access, author, content=content, allowed=draft.allowed_mentions, original=original
    )
    if invites and access.is_thread:
        access = await add_mentioned_to_thread(ctx, access, cast.mentioned.users)
    webhook_author = author if isinstance(author, WebhookAuthor) else None
    embeds = mark_files(ctx, files, encode_embeds(draft.embeds))
    hides = bool(draft.flags & MessageFlags.SUPPRESS_EMBEDS) and bool(draft.embeds)
    head = Head(
        author=UNSET if webhook_author is None else Raw(webhook_author.encoded()),
        id=message_id,
        channel_id=access.id,
        type=MessageType.DEFAULT if original is None else MessageType.REPLY,
        timestamp=message_id_moment(message_id),
        tts=draft.tts,
        mention_everyone=cast.mentioned.everyone,
        mention_roles=cast.mentioned.roles,
        flags=draft.flags if forwarded is None else draft.flags | MessageFlags.HAS_SNAPSHOT,
        webhook_id=UNSET if webhook_author is None else webhook_author.webhook_id,
        application_id=UNSET
        if webhook_author is None or webhook_author.application_id is None
        else webhook_author.application_id,
        message_reference=UNSET if original is None else reference_to(access, original.id),
        sticker_items=await find_sendable(ctx, access, draft.sticker_ids) if draft.sticker_ids else UNSET,
    )
    text = Text(
        content=draft.content,
        embeds=NONE if hides else embeds,
        attachments=list_files(ctx, files, embeds, components),
        components=components,
    )
    if more is not None:
        head = structs.replace(head, **more)
    if forwarded is not None:
        head = structs.replace(head, message_reference=forwarded.reference)
        text = structs.replace(text, message_snapshots=forwarded.snapshots)
    written = await store_message(
        ctx,
        access,
        author,
        head,
        text,
        cast,
        original=original,
        hidden_embeds=bytes(embeds).decode() if hides else None,
        nonce=draft.nonce,
        parts=draft.parts if forwarded is None else forwarded.parts,
        draft=draft,
        source=None if forwarded is None else forwarded.source,
    )
    return written.answer(Viewer(ctx.actor.user_id, reads_all=webhook_author is not None or viewer_in(ctx).reads_all))


async def send_system_message(
    ctx: Context,
    access: ChannelAccess,
    author: Author,
    kind: MessageType,
    *,
    about: MessageId | None = None,
    reference: MessageReference | UnsetType = UNSET,
    content: str = "",
    embeds: Raw = NONE,
    mentions: Sequence[UserId] = (),
    everyone: bool = False,
    parts: int = 0,
) -> MessageId:
    """Write into a channel that something happened: a message of a kind that nobody types, by whoever did it.

    `about` is the message of the same channel that it happened to, for which `reference` stands where
    there is none; `everyone` says whether it pings @everyone. The row must declare `MessageCreate`.
    """
    message_id = MessageId(ctx.ids.next())
    webhook_author = author if isinstance(author, WebhookAuthor) else None
    wanted = {*mentions} if webhook_author is not None else {id_of(author), *mentions}
    people = await find_people(ctx.tx, wanted, None if access.guild is None else access.guild.id) if wanted else {}
    head = Head(
        author=UNSET if webhook_author is None else Raw(webhook_author.encoded()),
        id=message_id,
        channel_id=access.id,
        type=kind,
        timestamp=message_id_moment(message_id),
        mention_everyone=everyone,
        webhook_id=UNSET if webhook_author is None else webhook_author.webhook_id,
        application_id=UNSET
        if webhook_author is None or webhook_author.application_id is None
        else webhook_author.application_id,
        message_reference=reference if about is None else reference_to(access, about),
    )
    mentioned = Mentioned([user_id for user_id in mentions if user_id in people], [], everyone=everyone)
    text = structs.replace(EMPTY, content=content, embeds=embeds)
    await store_message(ctx, access, author, head, text, MessageReferences(mentioned, people), parts=parts)
    return message_id


async def announce_message(ctx: Context, access: ChannelAccess, row: MessageRow) -> None:
    """Tell that something of a stored message has changed (MESSAGE_UPDATE), which the row must declare."""
    original = None if row.replied_id is None else await queries.select_message(ctx.tx, access.id, row.replied_id)
    wanted = {row.author_id, *(row.mentions or ())}
    if original is not None:
        wanted |= {original.author_id, *(original.mentions or ())}
    people = await find_people(ctx.tx, wanted, None if access.guild is None else access.guild.id)
    head = decode_head(row.body)
    users = [UserId(user_id) for user_id in row.mentions or ()]
    written = Written(
        access=access,
        row=row,
        head=head,
        text=decode_text(row.body),
        author=author_in(row, people),
        cast=MessageReferences(Mentioned(users, head.mention_roles, head.mention_everyone), people),
        original=original,
        answers=row.replied_id is not None,
        parts=await parts_around(ctx.tx, row, original),
    )
    ctx.emit(written.updated())


async def get_message(ctx: Context, channel_id: ChannelId, message_id: MessageId) -> MessageRow:
    """A message of a channel. Raises Refusal: 404/10008."""
    row = await queries.select_message(ctx.tx, channel_id, message_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_MESSAGE)
    return row


async def lock_message(ctx: Context, channel_id: ChannelId, message_id: MessageId) -> MessageRow:
    """The same, to change it: until the transaction is over nobody else changes or deletes it."""
    row = await queries.lock_message(ctx.tx, channel_id, message_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_MESSAGE)
    return row


async def hold_message(ctx: Context, channel_id: ChannelId, message_id: MessageId) -> MessageRow:
    """The same, to hang something on it: until the transaction is over nobody deletes it."""
    row = await queries.hold_message(ctx.tx, channel_id, message_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_MESSAGE)
    return row


async def delete_message(ctx: Context, message_id: MessageId) -> None:
    """Delete a message of the channel entered: one's own, or with MANAGE_MESSAGES another's, which is recorded.

    Raises Refusal: 10008, 50013, 50021 for system messages that stay; 50003 for another's in a direct message.
    """
    access = ctx.channel
    row = await get_message(ctx, access.id, message_id)
    own = row.author_id == ctx.actor.user_id
    if not own:
        if not ctx.in_guild:
            raise Refusal(errors.NOT_ON_DM)
        ctx.require(Permissions.MANAGE_MESSAGES)
    if row.type in UNDELETABLE:
        raise Refusal(errors.SYSTEM_MESSAGE)
    require_not_archived_and_locked(ctx)
    await remove_message(ctx, access, row)
    if not own:
        await ctx.audit(
            AuditLogEvent.MESSAGE_DELETE,
            target=row.author_id,
            options=AuditLogOptions(channel_id=Snowflake(access.id), count="1"),
        )


async def remove_message(ctx: Context, access: ChannelAccess, row: MessageRow) -> None:
    """Delete a message that may be deleted, and announce it. The row must declare `MessageDelete`.

    Raises Refusal: 10008 if somebody else has deleted it by now.
    """
    doomed = await queries.lock_doomed(ctx.tx, access.id, [row.id])
    if not doomed:
        raise Refusal(errors.UNKNOWN_MESSAGE)
    await queries.delete_messages(ctx.tx, access.id, doomed)
    await uncount_messages(ctx, access, [(row.id, row.type)])
    await renew_copies(ctx, access.id, [(row.id, doomed[0].flags)])
    ctx.emit(MessageDelete(route=route_of(access), message_id=row.id))


async def bulk_delete_messages(ctx: Context, message_ids: Sequence[MessageId]) -> None:
    """Delete up to 100 messages of the channel entered at once; ids that name none are ignored.

    All or nothing. Raises Refusal: 50034 for a message older than 14 days, 50021 for a system message that stays.
    """
    access = ctx.channel
    oldest = snowflake_at(ctx.now - limits.BULK_DELETE_AGE_MAX * _MS_PER_SECOND)
    if min(message_ids) < oldest:
        raise Refusal(errors.MESSAGE_TOO_OLD)
    doomed = await queries.lock_doomed(ctx.tx, access.id, list(message_ids))
    if any(row.type in UNDELETABLE for row in doomed):
        raise Refusal(errors.SYSTEM_MESSAGE)
    if not doomed:
        return
    await queries.delete_messages(ctx.tx, access.id, doomed)
    await uncount_messages(ctx, access, [(row.id, row.type) for row in doomed])
    await renew_copies(ctx, access.id, [(row.id, row.flags) for row in doomed])
    ctx.emit(MessageDeleteBulk(route=route_of(access), message_ids=tuple(row.id for row in doomed)))
    await ctx.audit(
        AuditLogEvent.MESSAGE_BULK_DELETE,
        target=Snowflake(access.id),
        options=AuditLogOptions(count=str(len(doomed))),
    )


async def forget_messages(ctx: Context, guild_id: GuildId, user_id: UserId, since_ms: int) -> None:
    """Delete what somebody wrote in a guild since a moment, in milliseconds since the Unix epoch.

    Announced per channel, at most 100 messages at once. The row must declare `MessageDeleteBulk`.
    """
    await forget_messages_of(ctx, guild_id, [user_id], since_ms)


async def forget_messages_of(ctx: Context, guild_id: GuildId, user_ids: Collection[UserId], since_ms: int) -> None:
    """The same for several people at once."""
    if not user_ids:
        return
    found = await queries.delete_messages_of(ctx.tx, guild_id, list(user_ids), snowflake_at(since_ms))
    threads = [row for row in found if row[2] in THREADS]
    await uncount_messages_in_threads(ctx, ((row[0], row[1], row[4]) for row in threads))
    inside = await select_private_members(ctx.tx, {row[0] for row in threads if row[2] == ChannelType.PRIVATE_THREAD})
    for (channel_id, kind, parent_id), rows in groupby(found, key=lambda row: (row[0], row[2], row[3])):
        route = route_in_guild(
            guild_id,
            ChannelId(Snowflake(channel_id)),
            kind,
            ChannelId(Snowflake(parent_id)) if kind in THREADS and parent_id is not None else None,
            hearers_of_private(inside.get(channel_id, ())) if kind == ChannelType.PRIVATE_THREAD else (),
        )
        gone = [(MessageId(Snowflake(row[1])), row[5]) for row in rows]
        await renew_copies(ctx, route.id, gone)
        for ids in _chunks([message_id for message_id, _ in gone], limits.BULK_DELETE_MAX):
            ctx.emit(MessageDeleteBulk(route=route, message_ids=ids))


def _chunks(items: Sequence[int], size: int) -> Iterable[tuple[int, ...]]:
    return (tuple(items[start : start + size]) for start in range(0, len(items), size))
