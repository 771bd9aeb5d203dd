"""The SQL of quick links."""

from msgspec import Struct, structs

from moothall.objects.ids import ApplicationId, QuickLinkId
from moothall.storage.database import Query, Reader, Transaction
from moothall.storage.sql import bindparam, delete, func, insert, select
from moothall.storage.tables import quick_links


class QuickLinkRow(Struct):
    """A row of `quick_links`."""

    id: QuickLinkId
    application_id: ApplicationId
    title: str
    description: str
    image: str
    custom_id: str | None


_of_application = quick_links.c.application_id == bindparam("application_id")
_insert = Query(lambda: insert(quick_links))
_select = Query(
    lambda: select(quick_links).where(quick_links.c.id == bindparam("link_id"), _of_application), into=QuickLinkRow
)
_count = Query(lambda: select(func.count()).where(_of_application))
_delete = Query(lambda: delete(quick_links).where(quick_links.c.id == bindparam("link_id")))
_delete_of_application = Query(lambda: delete(quick_links).where(_of_application))


async def insert_quick_link(tx: Transaction, row: QuickLinkRow) -> None:
    """Insert a link."""
    await tx.execute(_insert, **structs.asdict(row))


async def select_quick_link(reader: Reader, application_id: ApplicationId, link_id: QuickLinkId) -> QuickLinkRow | None:
    """Read a link of an application; None if there is none."""
    return await reader.one(_select, application_id=application_id, link_id=link_id)


async def count_quick_links(reader: Reader, application_id: ApplicationId) -> int:
    """Count the links of an application."""
    return int(await reader.scalar(_count, application_id=application_id) or 0)


async def delete_quick_link(tx: Transaction, link_id: QuickLinkId) -> None:
    """Delete a link."""
    await tx.execute(_delete, link_id=link_id)


async def delete_quick_links(tx: Transaction, application_id: ApplicationId) -> None:
    """Delete all links of an application."""
    await tx.execute(_delete_of_application, application_id=application_id)
