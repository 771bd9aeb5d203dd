"""The SQL of attachments, and of dropped files: those that a message no longer has."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, structs

from moothall.kernel.file_links import FilePath, is_attachment_of
from moothall.objects.channel_types import THREADS
from moothall.objects.ids import AttachmentId, ChannelId, MessageId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list, insert_ignore, upsert
from moothall.storage.sql import (
    ColumnElement,
    Insert,
    Table,
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal,
    or_,
    select,
    tuple_,
    union,
    update,
)
from moothall.storage.statement_store import table_facts
from moothall.storage.tables import (
    applications,
    attachments,
    channels,
    dropped_files,
    ephemeral_messages,
    guilds,
    meta,
    pending_uploads,
    table_named,
    unnamed_media,
    webhook_avatars,
)

MessageKey = tuple[ChannelId, MessageId]
"""The channel of a message, and its id."""


class NewAttachment(Struct):
    """A new attachment; `body` is the attachment object as JSON with placeholders."""

    id: AttachmentId
    content_type: str
    size: int
    body: bytes


_in_channel = attachments.c.channel_id == bindparam("channel_id")
_of_message = _in_channel & (attachments.c.message_id == bindparam("message_id"))

_insert = Query(lambda: insert(attachments))
_select_of_message = Query(
    lambda: select(attachments.c.id, attachments.c.body).where(_of_message).order_by(attachments.c.id)
)
_update_body = Query(
    lambda: (
        update(attachments)
        .where(_of_message, attachments.c.id == bindparam("file_id"))
        .values(body=bindparam("new_body"))
    )
)
_source = attachments.alias("source")
_copy = Query(
    lambda: insert(attachments).from_select(
        ["channel_id", "message_id", "id", "content_type", "size", "body"],
        select(
            bindparam("channel_id", type_=attachments.c.channel_id.type),
            bindparam("message_id", type_=attachments.c.message_id.type),
            _source.c.id,
            _source.c.content_type,
            _source.c.size,
            _source.c.body,
        ).where(
            _source.c.channel_id == bindparam("source_channel_id"),
            _source.c.message_id == bindparam("source_id"),
            in_list(_source.c.id, "ids"),
        ),
    )
)


async def select_attachments(reader: Reader, channel_id: ChannelId, message_id: MessageId) -> dict[int, bytes]:
    """All files of a message by their id, oldest first, as JSON with placeholders."""
    rows = await reader.all(_select_of_message, channel_id=channel_id, message_id=message_id)
    return {row[0]: row[1] for row in rows}


async def insert_attachments(
    tx: Transaction, channel_id: ChannelId, message_id: MessageId, listed: Sequence[NewAttachment]
) -> None:
    """Insert attachments of a message."""
    rows = [{"channel_id": channel_id, "message_id": message_id, **structs.asdict(one)} for one in listed]
    if rows:
        await tx.execute_many(_insert, rows)


async def copy_attachments(tx: Transaction, source: MessageKey, copy: MessageKey, ids: Collection[int]) -> None:
    """Insert attachments of a message, with those of the files named that another message has."""
    if ids:
        await tx.execute(
            _copy,
            source_channel_id=source[0],
            source_id=source[1],
            channel_id=copy[0],
            message_id=copy[1],
            ids=list(ids),
        )


async def update_attachments(
    tx: Transaction, channel_id: ChannelId, message_id: MessageId, bodies: Mapping[int, bytes]
) -> None:
    """Update the bodies of attachments."""
    rows = [
        {"channel_id": channel_id, "message_id": message_id, "file_id": file_id, "new_body": body}
        for file_id, body in bodies.items()
    ]
    if rows:
        await tx.execute_many(_update_body, rows)


class StoredFile(Struct):
    """The columns that serving a file needs."""

    content_type: str
    size: int
    body: bytes


def _is_reachable() -> ColumnElement[bool]:
    """Whether the channel of a file is there, or its application.

    The messages of a channel that is deleted, or whose guild or parent is, are removed later on, in steps.
    """
    # What one person sees lies in the room of its interaction, and stands for the channel that it is shown in.
    shown_in = func.coalesce(
        select(ephemeral_messages.c.channel_id)
        .where(ephemeral_messages.c.interaction_id == attachments.c.channel_id)
        .correlate(attachments)
        .limit(1)
        .scalar_subquery(),
        attachments.c.channel_id,
    )
    parents = channels.alias("parents")
    in_channel = exists().where(
        channels.c.id == shown_in,
        or_(channels.c.guild_id.is_(None), exists().where(guilds.c.id == channels.c.guild_id)),
        or_(channels.c.type.not_in(tuple(map(int, THREADS))), exists().where(parents.c.id == channels.c.parent_id)),
    )
    # Files that Activities upload lie in a room of their application, whose id is no channel's.
    return or_(in_channel, exists().where(applications.c.id == attachments.c.channel_id))


_select_file = Query(
    lambda: (
        select(attachments.c.content_type, attachments.c.size, attachments.c.body)
        .where(attachments.c.id == bindparam("file_id"), _is_reachable())
        .limit(1)
    ),
    into=StoredFile,
)


async def select_file(reader: Reader, path: FilePath) -> StoredFile | None:
    """A file that some message has, in a channel that still exists; None unless all of its path is right."""
    file = await reader.one(_select_file, file_id=path.id)
    return file if file is not None and is_attachment_of(file.body, path) else None


# Dropping: the attachments of a deleted message are listed in `dropped_files`, and removed from the store afterwards.


def _drop(having: Callable[[], ColumnElement[bool]]) -> tuple[Query[Any], Query[Any]]:
    def insert_dropped() -> Insert:
        keys = select(attachments.c.message_id, attachments.c.id).where(having())
        return insert(dropped_files).from_select([dropped_files.c.message_id, dropped_files.c.id], keys)

    return Query(insert_dropped), Query(lambda: delete(attachments).where(having()))


def _among_oldest() -> ColumnElement[bool]:
    oldest = (
        select(attachments.c.message_id, attachments.c.id)
        .where(_in_channel)
        .order_by(attachments.c.message_id, attachments.c.id)
        .limit(literal(500))
    )
    return _in_channel & tuple_(attachments.c.message_id, attachments.c.id).in_(oldest)


_drop_of_message = _drop(lambda: _of_message & in_list(attachments.c.id, "ids"))
_drop_of_messages = _drop(lambda: _in_channel & in_list(attachments.c.message_id, "message_ids"))
_drop_of_channels = _drop(lambda: in_list(attachments.c.channel_id, "channel_ids"))
_drop_some = _drop(_among_oldest)


async def drop_attachments(tx: Transaction, channel_id: ChannelId, message_id: MessageId, ids: Collection[int]) -> None:
    """Drop files of a message."""
    if ids:
        await _run(tx, _drop_of_message, channel_id=channel_id, message_id=message_id, ids=list(ids))


async def drop_files(tx: Transaction, channel_id: ChannelId, message_ids: Sequence[int]) -> None:
    """Drop all files of messages of a channel."""
    await _run(tx, _drop_of_messages, channel_id=channel_id, message_ids=list(message_ids))


async def drop_files_of(tx: Transaction, channel_ids: Sequence[ChannelId]) -> None:
    """Drop all files of deleted channels, of which each has few."""
    await _run(tx, _drop_of_channels, channel_ids=list(channel_ids))


async def drop_some_files(tx: Transaction, channel_id: ChannelId) -> bool:
    """Drop some hundred files of a deleted channel; False once there are none."""
    return await _run(tx, _drop_some, channel_id=channel_id) > 0


def dropping_where(messages: Any) -> tuple[Query[Any], Query[Any]]:
    """Statements that drop the files of the messages of a SELECT of channel and message ids."""
    return _drop(lambda: tuple_(attachments.c.channel_id, attachments.c.message_id).in_(messages))


async def _run(tx: Transaction, queries: tuple[Query[Any], Query[Any]], **values: Any) -> int:
    count = await tx.execute(queries[0], **values)
    if count:
        await tx.execute(queries[1], **values)
    return count


_select_dropped = Query(
    lambda: (
        select(dropped_files.c.message_id, dropped_files.c.id)
        .order_by(dropped_files.c.message_id, dropped_files.c.id)
        .limit(bindparam("maximum"))
    )
)
_delete_dropped = Query(
    lambda: delete(dropped_files).where(
        dropped_files.c.message_id == bindparam("message_id"), dropped_files.c.id == bindparam("file_id")
    )
)
# In one statement: a file that is used for a message leaves the uploads and enters the attachments in one transaction.
_select_used = Query(
    lambda: union(
        select(attachments.c.id).where(in_list(attachments.c.id, "ids")),
        select(pending_uploads.c.file_id).where(in_list(pending_uploads.c.file_id, "ids")),
    )
)


async def select_dropped(reader: Reader, maximum: int) -> list[tuple[int, int]]:
    """Dropped files: (message, file) ids."""
    return await reader.all(_select_dropped, maximum=maximum)


async def delete_dropped(tx: Transaction, dropped: Sequence[tuple[int, int]]) -> None:
    """Delete dropped files from the list."""
    await tx.execute_many(_delete_dropped, [{"message_id": row[0], "file_id": row[1]} for row in dropped])


async def select_used(reader: Reader, ids: Sequence[int]) -> set[int]:
    """Those of the files that any message has, or an upload that a message may still use."""
    return {row[0] for row in await reader.all(_select_used, ids=list(ids))}


_MARK = "files swept"
_select_swept = Query(lambda: select(meta.c.value).where(meta.c.key == _MARK))
_upsert_swept = Query(lambda: upsert(meta, key=("key",), update=("value",)))


async def select_swept(reader: Reader) -> int:
    """The id up to which uploads were checked for files without a message; 0 if never."""
    return int(await reader.scalar(_select_swept) or 0)


async def upsert_swept(tx: Transaction, file_id: int) -> None:
    """Store the id up to which uploads were checked."""
    await tx.execute(_upsert_swept, key=_MARK, value=str(file_id))


# Media: images and sounds, whose blobs are keyed by their content, and stay while any media column names their hash.

_MEDIA_MARK = "media swept at"


def _select_names(table: Table, column_name: str) -> Query[Any]:
    column = table.c[column_name]
    return Query(lambda: select(column).where(in_list(column, "names")).distinct())


_NAMED_BY: Final[dict[str, list[Query[Any]]]] = {}
for _name, _facts in table_facts().items():
    for _column_name, _folders in _facts.media.items():
        for _folder in _folders:
            _NAMED_BY.setdefault(_folder, []).append(_select_names(table_named(_name), _column_name))
_NAMED_BY["images"].append(_select_names(webhook_avatars, "hash"))

MEDIA_STORED_IN: Final = tuple(sorted(_NAMED_BY))
"""The folders of the blob store that hold media."""

_select_unnamed = Query(
    lambda: select(unnamed_media.c.key, unnamed_media.c.since).where(in_list(unnamed_media.c.key, "keys"))
)
_insert_unnamed = Query(lambda: insert_ignore(unnamed_media, key=("key",)))
_delete_unnamed = Query(lambda: delete(unnamed_media).where(in_list(unnamed_media.c.key, "keys")))


async def select_named_media(reader: Reader, folder: str, names: Collection[str]) -> set[str]:
    """Those of several hashes that any row names."""
    named = set[str]()
    for query in _NAMED_BY[folder]:
        left = [name for name in names if name not in named]
        if left:
            named |= {row[0] for row in await reader.all(query, names=left)}
    return named


async def select_unnamed_media(reader: Reader, keys: Sequence[str]) -> dict[str, int]:
    """When it was first seen that no row names blobs, by their keys; others are left out."""
    return {row[0]: int(row[1]) for row in await reader.all(_select_unnamed, keys=keys)}


async def insert_unnamed_media(tx: Transaction, keys: Sequence[str], now: Timestamp) -> None:
    """Store that no row names some blobs."""
    if keys:
        await tx.execute_many(_insert_unnamed, [{"key": key, "since": now} for key in keys])


async def delete_unnamed_media(tx: Transaction, keys: Sequence[str]) -> None:
    """Delete what `insert_unnamed_media` stored."""
    if keys:
        await tx.execute(_delete_unnamed, keys=keys)


async def select_media_swept_at(reader: Reader) -> int:
    """When the media were last swept; 0 for never."""
    return int(await reader.scalar(_select_media_swept_at) or 0)


async def upsert_media_swept_at(tx: Transaction, now: Timestamp) -> None:
    """Store when the media were last swept."""
    await tx.execute(_upsert_swept, key=_MEDIA_MARK, value=str(int(now)))


_select_media_swept_at = Query(lambda: select(meta.c.value).where(meta.c.key == _MEDIA_MARK))
