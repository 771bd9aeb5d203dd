"""The SQL of SKUs."""

from collections.abc import Iterable

from msgspec import Struct, structs

from moothall.objects.ids import ApplicationId, SkuId
from moothall.storage.database import Query, Reader, Transaction, update_columns
from moothall.storage.sql import bindparam, delete, func, insert, select
from moothall.storage.tables import skus


class SkuRow(Struct):
    """A row of `skus`."""

    id: SkuId
    application_id: ApplicationId
    type: int
    name: str
    flags: int


_select = Query(lambda: select(skus).where(skus.c.id == bindparam("sku_id")), into=SkuRow)
_select_of_application = Query(
    lambda: select(skus).where(skus.c.application_id == bindparam("application_id")).order_by(skus.c.id), into=SkuRow
)
_count_of_application = Query(lambda: select(func.count()).where(skus.c.application_id == bindparam("application_id")))
_insert = Query(lambda: insert(skus))
_delete_of_application = Query(lambda: delete(skus).where(skus.c.application_id == bindparam("application_id")))


async def select_sku(reader: Reader, sku_id: SkuId) -> SkuRow | None:
    """One SKU; None for an unknown id."""
    return await reader.one(_select, sku_id=sku_id)


async def select_skus_of_application(reader: Reader, application_id: ApplicationId) -> list[SkuRow]:
    """The SKUs of an application, oldest first."""
    return await reader.all(_select_of_application, application_id=application_id)


async def count_skus(reader: Reader, application_id: ApplicationId) -> int:
    """The number of SKUs of an application."""
    return int(await reader.scalar(_count_of_application, application_id=application_id))


async def insert_skus(tx: Transaction, rows: Iterable[SkuRow]) -> None:
    """Insert SKUs."""
    await tx.execute_many(_insert, [structs.asdict(row) for row in rows])


async def update_sku(tx: Transaction, sku_id: SkuId, **columns: object) -> None:
    """Update columns of an SKU."""
    await tx.execute(update_columns(skus, key=("id",), columns=frozenset(columns)), id=sku_id, **columns)


async def delete_skus(tx: Transaction, application_id: ApplicationId) -> None:
    """Delete the SKUs of an application."""
    await tx.execute(_delete_of_application, application_id=application_id)
