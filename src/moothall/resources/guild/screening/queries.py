"""The SQL of screening."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import bindparam, select, update

from moothall.objects.ids import GuildId, UserId
from moothall.objects.screening import FormField, ScreeningForm
from moothall.objects.wire import Timestamp, convert, to_plain
from moothall.storage.database import Query, Reader, Transaction, in_list, upsert
from moothall.storage.rows import MemberRow
from moothall.storage.schema import members, screening_forms


class _FormRow(Struct):
    guild_id: GuildId
    version: Timestamp
    description: str | None
    form_fields: list[dict[str, Any]]


_select_form = Query(select(screening_forms).where(screening_forms.c.guild_id == bindparam("guild_id")), into=_FormRow)
_write_form = Query(upsert(screening_forms, key=("guild_id",), update=("version", "description", "form_fields")))
_select_pending = Query(
    select(members)
    .where(
        members.c.guild_id == bindparam("guild_id"), members.c.user_id > bindparam("after"), members.c.pending.is_(True)
    )
    .order_by(members.c.user_id)
    .limit(bindparam("maximum")),
    into=MemberRow,
)
_admit = Query(
    update(members)
    .where(members.c.guild_id == bindparam("guild_id"), in_list(members.c.user_id, "user_ids"))
    .values(pending=False)
)


async def select_form(reader: Reader, guild_id: GuildId) -> ScreeningForm | None:
    """What a guild asks of newcomers; None where nobody has said."""
    row = await reader.one(_select_form, guild_id=guild_id)
    if row is None:
        return None
    return ScreeningForm(
        version=row.version, description=row.description, form_fields=convert(row.form_fields, list[FormField])
    )


async def write_form(tx: Transaction, guild_id: GuildId, form: ScreeningForm) -> None:
    """Store what a guild asks of newcomers in place of the form before."""
    await tx.execute(
        _write_form,
        guild_id=guild_id,
        version=form.version,
        description=form.description,
        form_fields=to_plain(form.form_fields),
    )


async def select_pending(reader: Reader, guild_id: GuildId, after: UserId, maximum: int) -> list[MemberRow]:
    """The next members by ascending user id who are pending."""
    return await reader.all(_select_pending, guild_id=guild_id, after=after, maximum=maximum)


async def admit(tx: Transaction, guild_id: GuildId, user_ids: Sequence[UserId]) -> None:
    """Let several members take part."""
    await tx.execute(_admit, guild_id=guild_id, user_ids=list(user_ids))
