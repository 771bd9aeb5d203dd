"""The SQL of uploads that no message has yet."""

from collections import Counter
from collections.abc import Collection, Sequence

from msgspec import Struct, structs

from moothall.api.storage_quota import add_stored_bytes, add_stored_bytes_of_all, charged_bytes
from moothall.objects.ids import AttachmentId, ChannelId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list, insert_ignore
from moothall.storage.sql import bindparam, delete, insert, literal, select, update
from moothall.storage.tables import dropped_files, pending_uploads


class NewUpload(Struct, frozen=True, kw_only=True):
    """An upload whose file is not stored yet."""

    id: Snowflake
    user_id: UserId
    channel_id: ChannelId
    filename: str
    max_size: int
    created_at: Timestamp


class ExpectedFile(Struct):
    """What the file of an upload may be, and whose it is."""

    user_id: UserId
    filename: str
    max_size: int


class StoredUpload(Struct):
    """An upload with its stored file."""

    id: Snowflake
    filename: str
    file_id: AttachmentId
    size: int
    content_type: str
    width: int | None
    height: int | None
    animated: bool


_table = pending_uploads.c
_is_waiting = (_table.id == bindparam("upload_id")) & _table.file_id.is_(None)
_of_user = _table.user_id == bindparam("user_id")
_is_listed = in_list(_table.id, "ids")

_insert = Query(lambda: insert(pending_uploads))
_select_expected = Query(
    lambda: select(_table.user_id, _table.filename, _table.max_size).where(_is_waiting), into=ExpectedFile
)
_update_stored = Query(
    lambda: (
        update(pending_uploads)
        .where(_is_waiting)
        .values(
            file_id=bindparam("new_file_id"),
            size=bindparam("new_size"),
            content_type=bindparam("new_content_type"),
            width=bindparam("new_width"),
            height=bindparam("new_height"),
            animated=bindparam("new_animated"),
        )
    )
)
_select_stored = Query(
    lambda: select(
        _table.id,
        _table.filename,
        _table.file_id,
        _table.size,
        _table.content_type,
        _table.width,
        _table.height,
        _table.animated,
    ).where(_is_listed, _of_user, _table.channel_id == bindparam("channel_id"), _table.file_id.is_not(None)),
    into=StoredUpload,
)
_select_oldest = Query(
    lambda: (
        select(_table.id).where(_of_user).order_by(_table.id.desc()).limit(literal(1000)).offset(bindparam("newest"))
    )
)
_select_of_user = Query(lambda: select(_table.id).where(_table.id == bindparam("upload_id"), _of_user))
_drop = Query(lambda: insert_ignore(dropped_files, key=("message_id", "id")))
_delete = Query(
    lambda: delete(pending_uploads).where(_is_listed).returning(_table.id, _table.file_id, _table.user_id, _table.size)
)


async def insert_uploads(tx: Transaction, uploads: Sequence[NewUpload]) -> None:
    """Insert uploads whose files are not stored yet."""
    await tx.execute_many(_insert, [structs.asdict(upload) for upload in uploads])


async def select_expected_file(reader: Reader, upload_id: Snowflake) -> ExpectedFile | None:
    """What may be put to an upload; None for an unknown one and for one that has its file."""
    return await reader.one(_select_expected, upload_id=upload_id)


async def update_stored(tx: Transaction, upload_id: Snowflake, stored: StoredUpload, user_id: UserId) -> int | None:
    """Set the file of an upload of a user; how many bytes the user has stored then.

    None if there is no such upload, or it has a file already.
    """
    changed = await tx.execute(
        _update_stored,
        upload_id=upload_id,
        new_file_id=stored.file_id,
        new_size=stored.size,
        new_content_type=stored.content_type,
        new_width=stored.width,
        new_height=stored.height,
        new_animated=stored.animated,
    )
    return await add_stored_bytes(tx, user_id, charged_bytes(stored.size)) if changed else None


async def select_stored_uploads(
    reader: Reader, ids: Collection[Snowflake], user_id: UserId, channel_id: ChannelId
) -> dict[Snowflake, StoredUpload]:
    """Those of the uploads that have their files, by id, and that a user created in a channel."""
    rows = await reader.all(_select_stored, ids=list(ids), user_id=user_id, channel_id=channel_id)
    return {row.id: row for row in rows}


async def select_surplus_uploads(reader: Reader, user_id: UserId, newest: int) -> list[Snowflake]:
    """The uploads of a user apart from so many `newest` ones."""
    return [Snowflake(row[0]) for row in await reader.all(_select_oldest, user_id=user_id, newest=newest)]


async def is_upload_of(reader: Reader, upload_id: Snowflake, user_id: UserId) -> bool:
    """Whether a user created an upload."""
    return await reader.scalar(_select_of_user, upload_id=upload_id, user_id=user_id) is not None


async def drop_uploads(tx: Transaction, ids: Collection[Snowflake]) -> int:
    """Delete uploads and drop their files, which are removed unless a message has them; their number."""
    if not ids:
        return 0
    rows = await tx.all(_delete, ids=list(ids))
    dropped: list[dict[str, int]] = []
    freed: Counter[UserId] = Counter()
    for upload_id, file_id, user_id, size in rows:
        if file_id is not None:
            dropped.append({"message_id": upload_id, "id": file_id})
            freed[user_id] -= charged_bytes(size)
    await add_stored_bytes_of_all(tx, freed)
    if dropped:
        await tx.execute_many(_drop, dropped)
    return len(rows)
