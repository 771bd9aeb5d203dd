"""The SQL of storing, reading and changing messages."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from moothall.objects.ids import ChannelId, GuildId, MessageId, Snowflake, UserId, WebhookId
from moothall.storage.database import Query, Reader, Transaction, in_list, upsert
from moothall.storage.sql import bindparam, insert, select, update
from moothall.storage.tables import channel_activity, messages

ShownRow = tuple[int, int, int, int, str | None, int | None, bytes, int]
"""The columns that pages show: id, author_id, pinned, reacted, mentions, replied_id, body, parts."""

SHOWN_COLUMNS = (
    messages.c.id,
    messages.c.author_id,
    messages.c.pinned,
    messages.c.reacted,
    messages.c.mentions,
    messages.c.replied_id,
    messages.c.body,
    messages.c.parts,
)
MESSAGES_TABLE: Final = messages.name

_in_channel = messages.c.channel_id == bindparam("channel_id")
_this = _in_channel & (messages.c.id == bindparam("message_id"))

_select_shown = Query(lambda: select(*SHOWN_COLUMNS).where(_in_channel, in_list(messages.c.id, "message_ids")))
_select_first = Query(
    lambda: select(*SHOWN_COLUMNS).where(
        in_list(messages.c.channel_id, "channel_ids"), messages.c.id == messages.c.channel_id
    )
)
_select_latest = Query(
    lambda: select(*SHOWN_COLUMNS).where(_in_channel).order_by(messages.c.id.desc()).limit(bindparam("maximum"))
)
_select_before = Query(
    lambda: (
        select(*SHOWN_COLUMNS)
        .where(_in_channel, messages.c.id < bindparam("message_id"))
        .order_by(messages.c.id.desc())
        .limit(bindparam("maximum"))
    )
)
_select_after = Query(
    lambda: (
        select(*SHOWN_COLUMNS)
        .where(_in_channel, messages.c.id > bindparam("message_id"))
        .order_by(messages.c.id)
        .limit(bindparam("maximum"))
    )
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


_select_message = Query(lambda: select(messages).where(_this), into=MessageRow)
_lock_message = Query(lambda: select(messages).where(_this).with_for_update(), into=MessageRow)
_lock_message_shared = Query(
    lambda: select(messages).where(_this).with_for_update(read=True, key_share=True), into=MessageRow
)
_insert_message = Query(lambda: insert(messages))
_update_message = Query(
    lambda: (
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
)
# Two messages may be stored in another order than that of their ids.
_move_activity = Query(
    lambda: upsert(channel_activity, key=("channel_id",), rising=("last_message_id",)), key=("channel_id",)
)


async def select_message(reader: Reader, channel_id: ChannelId, message_id: MessageId) -> MessageRow | None:
    """One message of a channel; None if there is none."""
    return await reader.one(_select_message, channel_id=channel_id, message_id=message_id)


async def lock_message(tx: Transaction, channel_id: ChannelId, message_id: MessageId) -> MessageRow | None:
    """One message of a channel, locked against changes until the transaction ends; None if there is none."""
    return await tx.one(_lock_message, channel_id=channel_id, message_id=message_id)


async def lock_message_shared(tx: Transaction, channel_id: ChannelId, message_id: MessageId) -> MessageRow | None:
    """One message of a channel, locked against deletion until the transaction ends; None if there is none.

    Any number of transactions may have this lock at once.
    """
    return await tx.one(_lock_message_shared, channel_id=channel_id, message_id=message_id)


async def select_shown(reader: Reader, channel_id: ChannelId, message_ids: list[int]) -> list[ShownRow]:
    """Messages of a channel by id, unordered."""
    return await reader.all(_select_shown, channel_id=channel_id, message_ids=message_ids)


async def select_first(reader: Reader, thread_ids: Sequence[ChannelId]) -> list[ShownRow]:
    """The first messages of forum threads, which have the ids of the threads, unordered."""
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
    """A page of a channel's messages, newest first. Of several positions the first in this signature counts."""
    rows: list[ShownRow]
    if around is not None:
        older = await reader.all(
            _select_before, channel_id=channel_id, message_id=around + 1, maximum=maximum - maximum // 2
        )
        newer = await reader.all_many(_select_after, channel_id=channel_id, message_id=around, maximum=maximum // 2)
        return [*reversed(newer), *older]
    if before is not None:
        rows = await reader.all_many(_select_before, channel_id=channel_id, message_id=before, maximum=maximum)
    elif after is not None:
        rows = await reader.all_many(_select_after, channel_id=channel_id, message_id=after, maximum=maximum)
        rows.reverse()
    else:
        rows = await reader.all_many(_select_latest, channel_id=channel_id, maximum=maximum)
    return rows


async def insert_message(tx: Transaction, row: MessageRow) -> None:
    """Insert a message, and make it the last message of its channel."""
    await tx.write(
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
    await tx.write(_move_activity, channel_id=row.channel_id, last_message_id=row.id)


async def update_message(tx: Transaction, row: MessageRow) -> bool:
    """Update an edited message; False if it is deleted."""
    count = await tx.execute(
        _update_message,
        channel_id=row.channel_id,
        message_id=row.id,
        new_flags=row.flags,
        new_mentions=row.mentions,
        new_body=row.body,
        new_hidden_embeds=row.hidden_embeds,
        new_parts=row.parts,
    )
    return count > 0
