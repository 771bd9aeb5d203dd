"""The SQL of deleting messages with everything that belongs to them."""

from typing import Final

from msgspec import Struct

from moothall.objects.ids import ChannelId, GuildId, MessageId, Snowflake, UserId
from moothall.objects.message_types import MessagePart
from moothall.resources.message.attachment.queries import drop_all, drop_files, dropping_where
from moothall.storage.database import Query, Transaction, in_list
from moothall.storage.sql import bindparam, delete, select, true, tuple_
from moothall.storage.tables import (
    channels,
    message_avatars,
    message_calls,
    message_mentions,
    messages,
    pins,
    poll_counts,
    poll_votes,
    polls,
    reaction_counts,
    reactions,
)

_listed = (messages.c.channel_id == bindparam("channel_id")) & in_list(messages.c.id, "message_ids")
_delete_messages = Query(lambda: delete(messages).where(_listed))
_delete_pins = Query(
    lambda: delete(pins).where(pins.c.channel_id == bindparam("channel_id"), in_list(pins.c.message_id, "message_ids"))
)
_delete_reactions = Query(
    lambda: delete(reactions).where(
        reactions.c.channel_id == bindparam("channel_id"), in_list(reactions.c.message_id, "message_ids")
    )
)
_delete_counts = Query(
    lambda: delete(reaction_counts).where(
        reaction_counts.c.channel_id == bindparam("channel_id"), in_list(reaction_counts.c.message_id, "message_ids")
    )
)
_delete_mentions = Query(
    lambda: delete(message_mentions).where(
        message_mentions.c.channel_id == bindparam("channel_id"), in_list(message_mentions.c.message_id, "message_ids")
    )
)
_delete_avatars = Query(
    lambda: delete(message_avatars).where(
        message_avatars.c.channel_id == bindparam("channel_id"), in_list(message_avatars.c.message_id, "message_ids")
    )
)
_delete_calls = Query(
    lambda: delete(message_calls).where(
        message_calls.c.channel_id == bindparam("channel_id"), in_list(message_calls.c.message_id, "message_ids")
    )
)
_delete_polls = [
    Query(
        delete(table).where(table.c.channel_id == bindparam("channel_id"), in_list(table.c.message_id, "message_ids"))
    )
    for table in (polls, poll_counts, poll_votes)
]


class DeletionTarget(Struct):
    """The columns of a message that deleting it depends on."""

    channel_id: ChannelId
    id: MessageId
    type: int
    flags: int
    pinned: bool
    reacted: bool
    parts: int


_TARGET = tuple(messages.c[name] for name in DeletionTarget.__struct_fields__)
# In the order of their ids, so that two transactions that delete the same messages cannot deadlock.
_lock_targets = Query(
    lambda: select(*_TARGET).where(_listed).order_by(messages.c.id).with_for_update(), into=DeletionTarget
)


async def lock_targets(tx: Transaction, channel_id: ChannelId, message_ids: list[MessageId]) -> list[DeletionTarget]:
    """Those of the messages that exist, oldest first, locked against changes until the transaction ends."""
    return await tx.all(_lock_targets, channel_id=channel_id, message_ids=message_ids)


async def delete_messages(tx: Transaction, channel_id: ChannelId, targets: list[DeletionTarget]) -> None:
    """Delete messages of one channel with their mentions, pins, reactions, files, avatars, calls and polls."""
    message_ids = [row.id for row in targets]
    await tx.execute(_delete_messages, channel_id=channel_id, message_ids=message_ids)
    await tx.execute(_delete_mentions, channel_id=channel_id, message_ids=message_ids)
    if pinned := [row.id for row in targets if row.pinned]:
        await tx.execute(_delete_pins, channel_id=channel_id, message_ids=pinned)
    if reacted := [row.id for row in targets if row.reacted]:
        await tx.execute(_delete_reactions, channel_id=channel_id, message_ids=reacted)
        await tx.execute(_delete_counts, channel_id=channel_id, message_ids=reacted)
    if with_files := [row.id for row in targets if row.parts & MessagePart.FILES]:
        await drop_files(tx, channel_id, with_files)
    if with_avatars := [row.id for row in targets if row.parts & MessagePart.AVATAR]:
        await tx.execute(_delete_avatars, channel_id=channel_id, message_ids=with_avatars)
    if calls := [row.id for row in targets if row.parts & MessagePart.CALL]:
        await tx.execute(_delete_calls, channel_id=channel_id, message_ids=calls)
    if polled := [row.id for row in targets if row.parts & MessagePart.POLL]:
        for query in _delete_polls:
            await tx.execute(query, channel_id=channel_id, message_ids=polled)


_DELETED_AT_ONCE: Final = 50
"""Messages of several authors that one statement deletes. SQLite looks for each message of each author."""
_AUTHORS_AT_ONCE: Final = 10
"""Authors whose messages one statement reads."""


class DeletedMessage(Struct):
    """A message that was deleted with others of its author, and its channel."""

    channel_id: ChannelId
    channel_type: int
    parent_id: ChannelId | None
    id: MessageId
    author_id: UserId
    type: int
    flags: int


_of_authors = (
    in_list(messages.c.author_id, "author_ids")
    & (messages.c.id >= bindparam("since_id"))
    & (messages.c.guild_id == bindparam("guild_id"))
)
_has_poll = messages.c.parts.bitwise_and(int(MessagePart.POLL)) != 0
_has_avatar = messages.c.parts.bitwise_and(int(MessagePart.AVATAR)) != 0
_has_files = messages.c.parts.bitwise_and(int(MessagePart.FILES)) != 0
# Only selected messages: one that is sent in between would be deleted without an event, and leave its parts behind.
_selected = _of_authors & in_list(messages.c.id, "message_ids")
_selected_keys = select(messages.c.channel_id, messages.c.id).where(_selected)
_drop_files_of_selected = dropping_where(_selected_keys.where(_has_files))
_select_of_authors = Query(
    lambda: (
        select(
            messages.c.channel_id,
            channels.c.type.label("channel_type"),
            channels.c.parent_id,
            messages.c.id,
            messages.c.author_id,
            messages.c.type,
            messages.c.flags,
        )
        .select_from(messages.join(channels, channels.c.id == messages.c.channel_id))
        .where(_of_authors)
        .order_by(messages.c.channel_id, messages.c.id)
        .with_for_update(of=messages)
    ),
    into=DeletedMessage,
)
_delete_parts_of_selected = tuple(
    Query(delete(table).where(tuple_(table.c.channel_id, table.c.message_id).in_(_selected_keys.where(having))))
    for table, having in (
        (message_mentions, true()),
        (pins, messages.c.pinned.is_(True)),
        (reactions, messages.c.reacted.is_(True)),
        (reaction_counts, messages.c.reacted.is_(True)),
        (message_avatars, _has_avatar),
        *((table, _has_poll) for table in (polls, poll_counts, poll_votes)),
    )
)
_delete_selected = Query(lambda: delete(messages).where(_selected))


async def delete_messages_of(
    tx: Transaction, guild_id: GuildId, author_ids: list[UserId], since_id: Snowflake
) -> list[DeletedMessage]:
    """Delete the messages of authors in a guild from an id on; those messages, by channel and id."""
    values: dict[str, object] = {"guild_id": guild_id, "since_id": since_id}
    rows: list[DeletedMessage] = []
    for start in range(0, len(author_ids), _AUTHORS_AT_ONCE):
        some_authors = author_ids[start : start + _AUTHORS_AT_ONCE]
        rows += await tx.all(_select_of_authors, author_ids=some_authors, **values)
    by_author = sorted(rows, key=lambda row: row.author_id)
    for start in range(0, len(by_author), _DELETED_AT_ONCE):
        some = by_author[start : start + _DELETED_AT_ONCE]
        values["author_ids"] = list({row.author_id for row in some})
        values["message_ids"] = [row.id for row in some]
        await drop_all(tx, _drop_files_of_selected, **values)
        for query in (*_delete_parts_of_selected, _delete_selected):
            await tx.execute(query, **values)
    return sorted(rows, key=lambda row: (row.channel_id, row.id))
