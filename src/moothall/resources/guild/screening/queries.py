"""The SQL of membership screening."""

from msgspec import Struct

from moothall.objects.ids import GuildId, UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.screening import FormField, ScreeningForm
from moothall.objects.wire import Timestamp, convert, to_plain
from moothall.storage.database import Query, Reader, Transaction, upsert
from moothall.storage.rows import MemberRow
from moothall.storage.sql import bindparam, select
from moothall.storage.tables import members, screening_forms


class _FormRow(Struct):
    guild_id: GuildId
    version: Timestamp
    description: str | None
    form_fields: list[JsonObject]


_select_form = Query(
    lambda: select(screening_forms).where(screening_forms.c.guild_id == bindparam("guild_id")), into=_FormRow
)
_upsert_form = Query(
    lambda: upsert(screening_forms, key=("guild_id",), update=("version", "description", "form_fields"))
)
_select_pending = Query(
    lambda: (
        select(members)
        .where(
            members.c.guild_id == bindparam("guild_id"),
            members.c.user_id > bindparam("after"),
            members.c.pending.is_(True),
        )
        .order_by(members.c.user_id)
        .limit(bindparam("maximum"))
    ),
    into=MemberRow,
)


async def select_form(reader: Reader, guild_id: GuildId) -> ScreeningForm | None:
    """A guild's screening form; None if it has none."""
    row = await reader.one(_select_form, guild_id=guild_id)
    if row is None:
        return None
    return ScreeningForm(
        version=row.version, description=row.description, form_fields=convert(row.form_fields, list[FormField])
    )


async def upsert_form(tx: Transaction, guild_id: GuildId, form: ScreeningForm) -> None:
    """Insert or replace a guild's screening form."""
    await tx.execute(
        _upsert_form,
        guild_id=guild_id,
        version=form.version,
        description=form.description,
        form_fields=to_plain(form.form_fields),
    )


async def select_pending(reader: Reader, guild_id: GuildId, after: UserId, maximum: int) -> list[MemberRow]:
    """The first `maximum` pending members after a user id, ascending by user id."""
    return await reader.all(_select_pending, guild_id=guild_id, after=after, maximum=maximum)
