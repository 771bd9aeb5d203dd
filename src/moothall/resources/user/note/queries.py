"""The SQL of notes."""

from moothall.objects.ids import UserId
from moothall.storage.database import Query, Reader, Transaction, upsert
from moothall.storage.sql import bindparam, delete, func, select
from moothall.storage.tables import user_notes

_of_user = user_notes.c.user_id == bindparam("user_id")
_this = _of_user & (user_notes.c.about_id == bindparam("about_id"))
_select_all = Query(
    lambda: select(user_notes.c.about_id, user_notes.c.note).where(_of_user).order_by(user_notes.c.about_id)
)
_select_one = Query(lambda: select(user_notes.c.note).where(_this))
_count = Query(lambda: select(func.count()).select_from(user_notes).where(_of_user))
_upsert = Query(lambda: upsert(user_notes, key=("user_id", "about_id"), update=("note",)))
_delete = Query(lambda: delete(user_notes).where(_this))


async def select_texts(reader: Reader, user_id: UserId) -> dict[str, str]:
    """The notes of a user by the id of the user whom each is about."""
    return {str(int(about_id)): note for about_id, note in await reader.all(_select_all, user_id=user_id)}


async def select_text(reader: Reader, user_id: UserId, about_id: UserId) -> str | None:
    """The note of a user about another one; None if there is none."""
    text: str | None = await reader.scalar(_select_one, user_id=user_id, about_id=about_id)
    return text


async def count_texts(reader: Reader, user_id: UserId) -> int:
    """How many notes a user has."""
    return int(await reader.scalar(_count, user_id=user_id))


async def upsert_text(tx: Transaction, user_id: UserId, about_id: UserId, note: str) -> None:
    """Store a note in place of the earlier one."""
    await tx.execute(_upsert, user_id=user_id, about_id=about_id, note=note)


async def delete_text(tx: Transaction, user_id: UserId, about_id: UserId) -> bool:
    """Delete a note; False if there was none."""
    return await tx.execute(_delete, user_id=user_id, about_id=about_id) == 1
