"""The SQL of guild templates."""

from msgspec import Struct, structs

from moothall.objects.ids import GuildId, UserId
from moothall.objects.template import TemplateSnapshot
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, insert_ignore, update_columns
from moothall.storage.sql import bindparam, delete, select, update
from moothall.storage.tables import guild_templates


class TemplateRow(Struct):
    """A row of `guild_templates`."""

    guild_id: GuildId
    code: str
    name: str
    description: str | None
    usage_count: int
    creator_id: UserId
    created_at: Timestamp
    updated_at: Timestamp
    guild_version: int
    snapshot: TemplateSnapshot


_insert = Query(lambda: insert_ignore(guild_templates, key=("code",)))
_select_by_code = Query(
    lambda: select(guild_templates).where(guild_templates.c.code == bindparam("code")), into=TemplateRow
)
_select_of_guild = Query(
    lambda: select(guild_templates).where(guild_templates.c.guild_id == bindparam("guild_id")), into=TemplateRow
)
_delete = Query(lambda: delete(guild_templates).where(guild_templates.c.guild_id == bindparam("guild_id")))
_count_use = Query(
    lambda: (
        update(guild_templates)
        .where(guild_templates.c.code == bindparam("the_code"))
        .values(usage_count=guild_templates.c.usage_count + 1)
    )
)


async def select_template(reader: Reader, code: str) -> TemplateRow | None:
    """The template with a code; None if there is none."""
    return await reader.one(_select_by_code, code=code)


async def select_guild_template(reader: Reader, guild_id: GuildId) -> TemplateRow | None:
    """The template of a guild; None if it has none."""
    return await reader.one(_select_of_guild, guild_id=guild_id)


async def insert_template(tx: Transaction, row: TemplateRow) -> bool:
    """Insert a template; False if its code is in use."""
    return await tx.execute(_insert, **structs.asdict(row)) > 0


async def update_template(tx: Transaction, guild_id: GuildId, **columns: object) -> None:
    """Update columns of a guild's template."""
    query = update_columns(guild_templates, key=("guild_id",), columns=frozenset(columns))
    await tx.execute(query, guild_id=guild_id, **columns)


async def delete_template(tx: Transaction, guild_id: GuildId) -> None:
    """Delete a guild's template."""
    await tx.execute(_delete, guild_id=guild_id)


async def count_use(tx: Transaction, code: str) -> bool:
    """Add one to a template's `usage_count`; False if it was deleted meanwhile."""
    return await tx.execute(_count_use, the_code=code) > 0
