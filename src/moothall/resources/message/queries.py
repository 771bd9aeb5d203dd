"""The SQL of messages."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import bindparam, delete, insert, select, tuple_, update

from moothall.objects.ids import ChannelId, GuildId, MessageId, Snowflake, UserId, WebhookId
from moothall.objects.message_types import MessagePart
from moothall.objects.wire import Timestamp
from moothall.resources.message.attachment.queries import drop_files, dropping_where
from moothall.storage.columns import TimestampColumn
from moothall.storage.database import Query, Reader, Transaction, in_list, insert_ignore, upsert
from moothall.storage.schema import (
    channel_activity,
    channels,
    members,
    message_nonces,
    messages,
    pins,
    poll_counts,
    poll_votes,
    polls,
    reaction_counts,
    reactions,
    users,
)

ShownRow = tuple[int, int, int, int, str | None, int | None, bytes, int]
"""What a page is made of: id, author_id, pinned, reacted, mentions, replied_id, body, parts."""

_SHOWN = (
    messages.c.id,
    messages.c.author_id,
    messages.c.pinned,
    messages.c.reacted,
    messages.c.mentions,
    messages.c.replied_id,
    messages.c.body,
    messages.c.parts,
)
_in_channel = messages.c.channel_id == bindparam("channel_id")
_this = _in_channel & (messages.c.id == bindparam("message_id"))

_select_shown = Query(select(*_SHOWN).where(_in_channel, in_list(messages.c.id, "message_ids")))
_select_first = Query(
    select(*_SHOWN).where(in_list(messages.c.channel_id, "channel_ids"), messages.c.id == messages.c.channel_id)
)
_select_latest = Query(select(*_SHOWN).where(_in_channel).order_by(messages.c.id.desc()).limit(bindparam("maximum")))
_select_before = Query(
    select(*_SHOWN)
    .where(_in_channel, messages.c.id < bindparam("message_id"))
    .order_by(messages.c.id.desc())
    .limit(bindparam("maximum"))
)
_select_after = Query(
    select(*_SHOWN)
    .where(_in_channel, messages.c.id > bindparam("message_id"))
    .order_by(messages.c.id)
    .limit(bindparam("maximum"))
)


class MessageRow(Struct):
    """A row of `messages`."""

    channel_id: ChannelId
    id: MessageId
    guild_id: GuildId | None
    author_id: UserId
    webhook_id: WebhookId | None
    type: int
    flags: int
    pinned: bool
    reacted: bool
    replied_id: MessageId | None
    mentions: list[Snowflake] | None
    body: bytes
    hidden_embeds: str | None
    parts: int = 0


_select_message = Query(select(messages).where(_this), into=MessageRow)
_lock_message = Query(select(messages).where(_this).with_for_update(), into=MessageRow)
_hold_message = Query(select(messages).where(_this).with_for_update(read=True, key_share=True), into=MessageRow)
_insert_message = Query(insert(messages))
_update_message = Query(
    update(messages)
    .where(_this)
    .values(
        flags=bindparam("new_flags"),
        mentions=bindparam("new_mentions"),
        body=bindparam("new_body"),
        hidden_embeds=bindparam("new_hidden_embeds"),
        parts=bindparam("new_parts"),
    )
)
# Two messages may be stored in another order than they got their ids.
_move_activity = Query(upsert(channel_activity, key=("channel_id",), rising=("last_message_id",)))


async def select_message(reader: Reader, channel_id: ChannelId, message_id: MessageId) -> MessageRow | None:
    """One message of a channel; None if there is none."""
    return await reader.one(_select_message, channel_id=channel_id, message_id=message_id)


async def lock_message(tx: Transaction, channel_id: ChannelId, message_id: MessageId) -> MessageRow | None:
    """One message of a channel, which nobody else changes until the transaction is over; None if there is none."""
    return await tx.one(_lock_message, channel_id=channel_id, message_id=message_id)


async def hold_message(tx: Transaction, channel_id: ChannelId, message_id: MessageId) -> MessageRow | None:
    """One message of a channel, which nobody deletes until the transaction is over; None if there is none.

    Any number may hold it at once.
    """
    return await tx.one(_hold_message, channel_id=channel_id, message_id=message_id)


async def select_shown(reader: Reader, channel_id: ChannelId, message_ids: list[int]) -> list[ShownRow]:
    """Messages of a channel by id, in no order."""
    return await reader.all(_select_shown, channel_id=channel_id, message_ids=message_ids)


async def select_first(reader: Reader, thread_ids: Sequence[ChannelId]) -> list[ShownRow]:
    """The messages that threads of a forum begin with, which have the threads' ids, in no order."""
    return await reader.all(_select_first, channel_ids=list(thread_ids))


async def select_page(
    reader: Reader,
    channel_id: ChannelId,
    *,
    around: MessageId | None,
    before: MessageId | None,
    after: MessageId | None,
    maximum: int,
) -> list[ShownRow]:
    """A page of a channel's messages, newest first. Of several positions the first named here counts."""
    rows: list[Any]
    if around is not None:
        older = await reader.all(
            _select_before, channel_id=channel_id, message_id=around + 1, maximum=maximum - maximum // 2
        )
        newer = await reader.all(_select_after, channel_id=channel_id, message_id=around, maximum=maximum // 2)
        return [*reversed(newer), *older]
    if before is not None:
        rows = await reader.all(_select_before, channel_id=channel_id, message_id=before, maximum=maximum)
    elif after is not None:
        rows = await reader.all(_select_after, channel_id=channel_id, message_id=after, maximum=maximum)
        rows.reverse()
    else:
        rows = await reader.all(_select_latest, channel_id=channel_id, maximum=maximum)
    return rows


async def insert_message(tx: Transaction, row: MessageRow) -> None:
    """Store a message and move its channel's last message to it."""
    await tx.execute(
        _insert_message,
        channel_id=row.channel_id,
        id=row.id,
        guild_id=row.guild_id,
        author_id=row.author_id,
        webhook_id=row.webhook_id,
        type=row.type,
        flags=row.flags,
        replied_id=row.replied_id,
        mentions=row.mentions,
        body=row.body,
        hidden_embeds=row.hidden_embeds,
        parts=row.parts,
    )
    await tx.execute(_move_activity, channel_id=row.channel_id, last_message_id=row.id)


async def update_message(tx: Transaction, row: MessageRow) -> bool:
    """Store what an edit made of a message; False if it is gone."""
    changed = await tx.execute(
        _update_message,
        channel_id=row.channel_id,
        message_id=row.id,
        new_flags=row.flags,
        new_mentions=row.mentions,
        new_body=row.body,
        new_hidden_embeds=row.hidden_embeds,
        new_parts=row.parts,
    )
    return changed > 0


_listed = _in_channel & in_list(messages.c.id, "message_ids")
_delete_messages = Query(delete(messages).where(_listed))
_delete_pins = Query(
    delete(pins).where(pins.c.channel_id == bindparam("channel_id"), in_list(pins.c.message_id, "message_ids"))
)
_delete_reactions = Query(
    delete(reactions).where(
        reactions.c.channel_id == bindparam("channel_id"), in_list(reactions.c.message_id, "message_ids")
    )
)
_delete_counts = Query(
    delete(reaction_counts).where(
        reaction_counts.c.channel_id == bindparam("channel_id"), in_list(reaction_counts.c.message_id, "message_ids")
    )
)
_delete_polls = [
    Query(
        delete(table).where(table.c.channel_id == bindparam("channel_id"), in_list(table.c.message_id, "message_ids"))
    )
    for table in (polls, poll_counts, poll_votes)
]


class Doomed(Struct):
    """What has to be known of a message to delete it."""

    channel_id: ChannelId
    id: MessageId
    type: int
    flags: int
    pinned: bool
    reacted: bool
    parts: int


_DOOMED = tuple(messages.c[name] for name in Doomed.__struct_fields__)
# In the order of their ids, so that of two who delete the same ones neither waits for the other for ever.
_lock_doomed = Query(select(*_DOOMED).where(_listed).order_by(messages.c.id).with_for_update(), into=Doomed)


async def lock_doomed(tx: Transaction, channel_id: ChannelId, message_ids: list[MessageId]) -> list[Doomed]:
    """Those of the messages named that exist, oldest first; nobody else adds to them or deletes them any more."""
    return await tx.all(_lock_doomed, channel_id=channel_id, message_ids=message_ids)


async def delete_messages(tx: Transaction, channel_id: ChannelId, doomed: list[Doomed]) -> None:
    """Delete messages of one channel with their reactions, pins, polls and files."""
    await tx.execute(_delete_messages, channel_id=channel_id, message_ids=[row.id for row in doomed])
    if pinned := [row.id for row in doomed if row.pinned]:
        await tx.execute(_delete_pins, channel_id=channel_id, message_ids=pinned)
    if reacted := [row.id for row in doomed if row.reacted]:
        await tx.execute(_delete_reactions, channel_id=channel_id, message_ids=reacted)
        await tx.execute(_delete_counts, channel_id=channel_id, message_ids=reacted)
    if having := [row.id for row in doomed if row.parts & MessagePart.FILES]:
        await drop_files(tx, channel_id, having)
    if polled := [row.id for row in doomed if row.parts & MessagePart.POLL]:
        for query in _delete_polls:
            await tx.execute(query, channel_id=channel_id, message_ids=polled)


_theirs = (
    in_list(messages.c.author_id, "author_ids")
    & (messages.c.id >= bindparam("since_id"))
    & (messages.c.guild_id == bindparam("guild_id"))
)
_has_poll = messages.c.parts.bitwise_and(int(MessagePart.POLL)) != 0
_has_files = messages.c.parts.bitwise_and(int(MessagePart.FILES)) != 0
# Those that were found and no others: what is sent meanwhile would go with nobody told, and leave its parts behind.
_found = _theirs & in_list(messages.c.id, "message_ids")
_keys_of_theirs = select(messages.c.channel_id, messages.c.id).where(_found)
_drop_theirs = dropping_where(_keys_of_theirs.where(_has_files))
_select_theirs = Query(
    select(
        messages.c.channel_id,
        messages.c.id,
        channels.c.type,
        channels.c.parent_id,
        messages.c.type.label("message_type"),
        messages.c.flags,
    )
    .select_from(messages.join(channels, channels.c.id == messages.c.channel_id))
    .where(_theirs)
    .order_by(messages.c.channel_id, messages.c.id)
    .with_for_update(of=messages)
)
_delete_below_theirs = tuple(
    Query(delete(table).where(tuple_(table.c.channel_id, table.c.message_id).in_(_keys_of_theirs.where(having))))
    for table, having in (
        (pins, messages.c.pinned.is_(True)),
        (reactions, messages.c.reacted.is_(True)),
        (reaction_counts, messages.c.reacted.is_(True)),
        *((table, _has_poll) for table in (polls, poll_counts, poll_votes)),
    )
)
_delete_theirs = Query(delete(messages).where(_found))


async def delete_messages_of(
    tx: Transaction, guild_id: GuildId, author_ids: list[UserId], since_id: Snowflake
) -> list[tuple[int, int, int, int | None, int, int]]:
    """Delete what some wrote in a guild from an id on.

    (channel, message, channel's type, its parent, message's type, its flags) of each, by channel.
    """
    values: dict[str, Any] = {"guild_id": guild_id, "author_ids": author_ids, "since_id": since_id}
    found = await tx.all(_select_theirs, **values)
    if found:
        values["message_ids"] = [row[1] for row in found]
        for query in (*_drop_theirs, *_delete_below_theirs):
            await tx.execute(query, **values)
        await tx.execute(_delete_theirs, **values)
    return found


_select_nonce = Query(
    select(message_nonces.c.message_id).where(
        message_nonces.c.channel_id == bindparam("channel_id"),
        message_nonces.c.author_id == bindparam("author_id"),
        message_nonces.c.nonce == bindparam("nonce"),
        message_nonces.c.created_at > bindparam("since", type_=TimestampColumn()),
    )
)
_insert_nonce = Query(
    upsert(message_nonces, key=("channel_id", "author_id", "nonce"), update=("message_id", "created_at"))
)
_claim_nonce = Query(insert_ignore(message_nonces, key=("channel_id", "author_id", "nonce")))
_delete_nonces = Query(delete(message_nonces).where(message_nonces.c.created_at <= bindparam("until")))


async def select_nonce(
    reader: Reader, channel_id: ChannelId, author_id: UserId, nonce: str, since: Timestamp
) -> MessageId | None:
    """The message that an author sent with a nonce since a moment."""
    row = await reader.one(_select_nonce, channel_id=channel_id, author_id=author_id, nonce=nonce, since=since)
    return None if row is None else MessageId(Snowflake(row[0]))


async def claim_nonce(
    tx: Transaction, channel_id: ChannelId, author_id: UserId, nonce: str, message_id: MessageId, now: Timestamp
) -> bool:
    """Take a nonce for a message; False if it is taken. Of two that try at once the second waits for the first."""
    return bool(
        await tx.execute(
            _claim_nonce,
            channel_id=channel_id,
            author_id=author_id,
            nonce=nonce,
            message_id=message_id,
            created_at=now,
        )
    )


async def keep_nonce(
    tx: Transaction, channel_id: ChannelId, author_id: UserId, nonce: str, message_id: MessageId, now: Timestamp
) -> None:
    """Remember with which nonce a message was sent, whoever had it before."""
    await tx.execute(
        _insert_nonce, channel_id=channel_id, author_id=author_id, nonce=nonce, message_id=message_id, created_at=now
    )


async def delete_nonces(tx: Transaction, until: Timestamp) -> None:
    """Forget the nonces of messages sent up to a moment."""
    await tx.execute(_delete_nonces, until=until)


_select_last_of = Query(
    select(messages.c.id)
    .where(
        messages.c.author_id == bindparam("author_id"),
        messages.c.id > bindparam("since_id"),
        messages.c.channel_id == bindparam("channel_id"),
    )
    .order_by(messages.c.id.desc())
    .limit(1)
)
_select_newcomer = Query(
    select(users.c.verified, members.c.joined_at, members.c.flags)
    .select_from(users.join(members, members.c.user_id == users.c.id))
    .where(users.c.id == bindparam("user_id"), members.c.guild_id == bindparam("guild_id"))
)


async def select_last_of(
    reader: Reader, channel_id: ChannelId, author_id: UserId, since_id: Snowflake
) -> MessageId | None:
    """The last message that somebody sent to a channel after an id."""
    return await reader.scalar(  # type: ignore[no-any-return]
        _select_last_of, channel_id=channel_id, author_id=author_id, since_id=since_id
    )


async def select_newcomer(reader: Reader, guild_id: GuildId, user_id: UserId) -> tuple[bool, Timestamp, int] | None:
    """What verification levels ask of a member: whether the e-mail is verified, since when they are in, their flags."""
    row = await reader.one(_select_newcomer, guild_id=guild_id, user_id=user_id)
    return None if row is None else (bool(row[0]), Timestamp(row[1]), row[2])


_select_account = Query(select(users.c.bot, users.c.deleted).where(users.c.id == bindparam("user_id")))


async def is_reachable(reader: Reader, user_id: UserId, *, by_bot: bool) -> bool:
    """Whether a direct message can reach somebody: deleted accounts read none, and bots none of bots'."""
    row = await reader.one(_select_account, user_id=user_id)
    return row is not None and not row[1] and not (row[0] and by_bot)
