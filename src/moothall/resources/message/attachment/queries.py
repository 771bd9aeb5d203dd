"""The SQL of attachments, and of dropped files: those that a message no longer has.

Every statement that inserts or deletes attachments counts what their payers have stored (`api/storage_quota.py`).
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from msgspec import Struct, structs

from moothall.api.file_links import FilePath, is_attachment_of
from moothall.api.storage_quota import add_bytes_of_guilds, add_stored_bytes, add_stored_bytes_of_all, charged_bytes
from moothall.objects.channel_types import THREADS
from moothall.objects.ids import AttachmentId, ChannelId, GuildId, MessageId, UserId, WebhookId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list, insert_ignore, upsert
from moothall.storage.query import Row
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
from moothall.storage.statements.store import table_facts
from moothall.storage.tables import (
    applications,
    attachments,
    channels,
    dropped_files,
    ephemeral_messages,
    guilds,
    meta,
    pending_uploads,
    retained_files,
    server_settings,
    table_named,
    unnamed_media,
    webhook_avatars,
    webhooks,
)

OwnerT = TypeVar("OwnerT", UserId, GuildId)
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

_CHARGED: Final = (attachments.c.payer_id, attachments.c.guild_id, attachments.c.id, attachments.c.size)
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
_select_payer = Query(
    lambda: (
        select(func.coalesce(webhooks.c.user_id, webhooks.c.application_id, guilds.c.owner_id))
        .select_from(webhooks.outerjoin(guilds, guilds.c.id == webhooks.c.guild_id))
        .where(webhooks.c.id == bindparam("webhook_id"))
    )
)
_source = attachments.alias("source")
_copy_payer = bindparam("payer_id", type_=attachments.c.payer_id.type)
_copy = Query(
    lambda: insert(attachments).from_select(
        ["channel_id", "message_id", "id", "content_type", "size", "body", "payer_id", "guild_id"],
        select(
            bindparam("channel_id", type_=attachments.c.channel_id.type),
            bindparam("message_id", type_=attachments.c.message_id.type),
            _source.c.id,
            _source.c.content_type,
            _source.c.size,
            _source.c.body,
            func.coalesce(_copy_payer, _source.c.payer_id),
            select(channels.c.guild_id).where(channels.c.id == bindparam("channel_id")).scalar_subquery(),
        ).where(
            _source.c.channel_id == bindparam("source_channel_id"),
            _source.c.message_id == bindparam("source_id"),
            in_list(_source.c.id, "ids"),
        ),
    )
)
_select_copied = Query(lambda: select(*_CHARGED).where(_of_message, in_list(attachments.c.id, "ids")))
_count_of_payers = Query(
    lambda: (
        select(attachments.c.payer_id, attachments.c.id, func.count())
        .where(in_list(attachments.c.id, "ids"), in_list(attachments.c.payer_id, "payer_ids"))
        .group_by(attachments.c.payer_id, attachments.c.id)
    )
)
_count_of_guilds = Query(
    lambda: (
        select(attachments.c.guild_id, attachments.c.id, func.count())
        .where(in_list(attachments.c.id, "ids"), in_list(attachments.c.guild_id, "guild_ids"))
        .group_by(attachments.c.guild_id, attachments.c.id)
    )
)
_select_guild_id = Query(lambda: select(channels.c.guild_id).where(channels.c.id == bindparam("channel_id")))


async def select_attachments(reader: Reader, channel_id: ChannelId, message_id: MessageId) -> dict[int, bytes]:
    """All files of a message by their id, oldest first, as JSON with placeholders."""
    rows = await reader.all(_select_of_message, channel_id=channel_id, message_id=message_id)
    return {row[0]: row[1] for row in rows}


async def select_payer(reader: Reader, author_id: UserId, webhook_id: WebhookId | None) -> UserId:
    """The account that is charged for files of an author.

    For a webhook it is its creator, else its application's bot, else the owner of its guild.
    """
    payer_id = None if webhook_id is None else await reader.scalar(_select_payer, webhook_id=webhook_id)
    return author_id if payer_id is None else UserId(payer_id)


async def insert_attachments(
    tx: Transaction, channel_id: ChannelId, message_id: MessageId, listed: Sequence[NewAttachment], payer_id: UserId
) -> int:
    """Insert attachments of a message, whose files no other message has; how many bytes the payer has stored then."""
    if not listed:
        return 0
    guild_id = await tx.scalar(_select_guild_id, channel_id=channel_id)
    key = {"channel_id": channel_id, "message_id": message_id, "payer_id": payer_id, "guild_id": guild_id}
    await tx.execute_many(_insert, [{**key, **structs.asdict(one)} for one in listed])
    size = sum(charged_bytes(one.size) for one in listed)
    stored = await add_stored_bytes(tx, payer_id, size)
    if guild_id is not None:
        await add_bytes_of_guilds(tx, {GuildId(guild_id): size})
    return stored


async def copy_attachments(
    tx: Transaction, source: MessageKey, copy: MessageKey, ids: Collection[int], payer_id: UserId | None
) -> bool:
    """Insert attachments of a message, with those of the files named that another message has.

    They are charged to an account, or with None to those that are charged for the other message. Returns whether
    any was charged for more than before.
    """
    if not ids:
        return False
    key: dict[str, object] = {"channel_id": copy[0], "message_id": copy[1], "ids": list(ids)}
    await tx.execute(_copy, source_channel_id=source[0], source_id=source[1], payer_id=payer_id, **key)
    return await _count(tx, await tx.all(_select_copied, **key), 1)


async def _count(tx: Transaction, rows: Iterable[Row], change: int) -> bool:
    """Count what payers and guilds have stored after files of theirs were inserted (`change` 1) or deleted (-1).

    `rows` are payer, guild, file and size. Returns whether any payer is charged for more than before.
    """
    of_payers: Counter[tuple[UserId, int]] = Counter()
    of_guilds: Counter[tuple[GuildId, int]] = Counter()
    sizes: dict[int, int] = {}
    for payer_id, guild_id, file_id, size in rows:
        sizes[file_id] = size
        if payer_id is not None:
            of_payers[payer_id, file_id] += change
        if guild_id is not None:
            of_guilds[guild_id, file_id] += change
    charged = False
    if of_payers:
        payer_ids = {payer_id for payer_id, _ in of_payers}
        # From here on no other transaction changes what these payers have: those that did have ended.
        await add_stored_bytes_of_all(tx, dict.fromkeys(payer_ids, 0))
        counts = await tx.all(_count_of_payers, ids=list(sizes), payer_ids=list(payer_ids))
        added = _added_bytes(of_payers, counts, sizes)
        await add_stored_bytes_of_all(tx, added)
        charged = any(size > 0 for size in added.values())
    if of_guilds:
        guild_ids = {guild_id for guild_id, _ in of_guilds}
        await add_bytes_of_guilds(tx, dict.fromkeys(guild_ids, 0))
        counts = await tx.all(_count_of_guilds, ids=list(sizes), guild_ids=list(guild_ids))
        await add_bytes_of_guilds(tx, _added_bytes(of_guilds, counts, sizes))
    return charged


def _added_bytes(
    changes: Mapping[tuple[OwnerT, int], int], counts: Iterable[Row], sizes: Mapping[int, int]
) -> dict[OwnerT, int]:
    """The bytes that owners have more or less, by how often each has each file now, and how often it came or went."""
    count_now = {(owner_id, file_id): count for owner_id, file_id, count in counts}
    added: Counter[OwnerT] = Counter()
    for share, changed in changes.items():
        now = count_now.get(share, 0)
        if (now > 0) != (now - changed > 0):
            added[share[0]] += charged_bytes(sizes[share[1]]) * (1 if changed > 0 else -1)
    return {owner_id: size for owner_id, size in added.items() if size}


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


DropQueries = tuple[Query[Row], Query[Row]]
"""Statements that list files as dropped, and that delete their attachments and return whom they are charged to."""


def _drop(having: Callable[[], ColumnElement[bool]]) -> DropQueries:
    def insert_dropped() -> Insert:
        keys = select(attachments.c.message_id, attachments.c.id).where(having())
        return insert(dropped_files).from_select([dropped_files.c.message_id, dropped_files.c.id], keys)

    return Query(insert_dropped), Query(lambda: delete(attachments).where(having()).returning(*_CHARGED))


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
        await drop_all(tx, _drop_of_message, channel_id=channel_id, message_id=message_id, ids=list(ids))


async def drop_files(tx: Transaction, channel_id: ChannelId, message_ids: Sequence[int]) -> None:
    """Drop all files of messages of a channel."""
    await drop_all(tx, _drop_of_messages, channel_id=channel_id, message_ids=list(message_ids))


async def drop_files_of(tx: Transaction, channel_ids: Sequence[ChannelId]) -> None:
    """Drop all files of deleted channels, of which each has few."""
    await drop_all(tx, _drop_of_channels, channel_ids=list(channel_ids))


async def drop_some_files(tx: Transaction, channel_id: ChannelId) -> bool:
    """Drop some hundred files of a deleted channel; False once there are none."""
    return await drop_all(tx, _drop_some, channel_id=channel_id) > 0


def dropping_where(messages: Any) -> DropQueries:
    """The statements for `drop_all` of the files of the messages of a SELECT of channel and message ids."""
    return _drop(lambda: tuple_(attachments.c.channel_id, attachments.c.message_id).in_(messages))


async def drop_all(tx: Transaction, queries: DropQueries, **values: object) -> int:
    """Drop the files that statements choose; their number."""
    count = await tx.execute(queries[0], **values)
    if count:
        await _count(tx, await tx.all(queries[1], **values), -1)
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
        select(retained_files.c.id).where(in_list(retained_files.c.id, "ids")),
    )
)


async def select_dropped(reader: Reader, maximum: int) -> list[tuple[int, int]]:
    """Dropped files: (message, file) ids."""
    return await reader.all(_select_dropped, maximum=maximum)


async def delete_dropped(tx: Transaction, dropped: Sequence[tuple[int, int]]) -> None:
    """Delete dropped files from the list."""
    await tx.execute_many(_delete_dropped, [{"message_id": row[0], "file_id": row[1]} for row in dropped])


async def select_used(reader: Reader, ids: Sequence[int]) -> set[int]:
    """Those of the files that any message has, held ones too, or an upload that a message may still use."""
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


def _select_names(table: Table, column_name: str) -> Query[Row]:
    column = table.c[column_name]
    return Query(lambda: select(column).where(in_list(column, "names")).distinct())


_NAMED_BY: Final[dict[str, list[Query[Row]]]] = {}
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


_select_instance_icon = Query(lambda: select(server_settings.c.value).where(server_settings.c.name == "instance_icon"))


async def select_named_media(reader: Reader, folder: str, names: Collection[str]) -> set[str]:
    """Those of several hashes that any row names."""
    named = set[str]()
    for query in _NAMED_BY[folder]:
        left = [name for name in names if name not in named]
        if left:
            named |= {row[0] for row in await reader.all(query, names=left)}
    if folder == "images":
        # The value is JSON.
        named |= {row[0].strip('"') for row in await reader.all(_select_instance_icon)} & set(names)
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
