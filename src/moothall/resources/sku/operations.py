"""SKU operations: create and modify what an application offers."""

import re
from typing import Final

from msgspec import UNSET, structs

from moothall.api.context import Context
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ApplicationId, SkuId
from moothall.objects.monetization import Sku, SkuFlags, SkuType
from moothall.objects.text import clean_name, search_key
from moothall.resources.application.access import OWNER_OR_BOT
from moothall.resources.sku import queries
from moothall.resources.sku.queries import SkuRow
from moothall.resources.sku.requests import CreateSku, ModifySku

_NOT_IN_SLUGS: Final = re.compile(r"[^a-z0-9]+")


def sku_object(row: SkuRow) -> Sku:
    """The SKU object of a row."""
    return Sku(
        id=row.id,
        type=SkuType(row.type),
        application_id=row.application_id,
        name=row.name,
        slug=_NOT_IN_SLUGS.sub("-", search_key(row.name)).strip("-"),
        flags=row.flags,
    )


async def find_sku(ctx: Context, sku_id: SkuId) -> SkuRow:
    """An SKU of an application that the caller manages. Raises Refusal: 404/10027, 403/20012."""
    row = await queries.select_sku(ctx.tx, sku_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_SKU)
    await OWNER_OR_BOT.check(ctx, {"application_id": row.application_id})
    return row


async def create_sku(ctx: Context, body: CreateSku) -> Sku:
    """Create an SKU; a subscription comes with an SKU of type SUBSCRIPTION_GROUP, which has the older id.

    Raises Refusal: 404/10002, 403/20012 for an application that the caller does not manage, 400/50035 for an
    application with the maximum number of SKUs.
    """
    await OWNER_OR_BOT.check(ctx, {"application_id": body.application_id})
    if await queries.count_skus(ctx.tx, body.application_id) >= limits.SKUS_PER_APPLICATION:
        message = f"An application has at most {limits.SKUS_PER_APPLICATION} SKUs."
        refuse_field("application_id", FormCode.BASE_TYPE_MAX_LENGTH, message)
    flags = (body.flags or 0) & SkuFlags.SETTABLE
    rows = []
    kind = SkuType(body.type)
    if kind is SkuType.SUBSCRIPTION:
        if not flags & SkuFlags.SUBSCRIPTIONS:
            flags |= SkuFlags.USER_SUBSCRIPTION
        rows.append(_new_row(ctx, body.application_id, SkuType.SUBSCRIPTION_GROUP, body.name, flags))
    row = _new_row(ctx, body.application_id, kind, body.name, flags)
    await queries.insert_skus(ctx.tx, [*rows, row])
    return sku_object(row)


def _new_row(ctx: Context, application_id: ApplicationId, kind: SkuType, name: str, flags: int) -> SkuRow:
    return SkuRow(
        id=SkuId(ctx.ids.next()), application_id=application_id, type=kind, name=clean_name(name), flags=flags
    )


async def modify_sku(ctx: Context, sku_id: SkuId, body: ModifySku) -> Sku:
    """Change the name of an SKU and whether it is available. Raises Refusal: 404/10027, 403/20012."""
    row = await find_sku(ctx, sku_id)
    columns: dict[str, object] = {}
    if body.name is not UNSET:
        columns["name"] = clean_name(body.name)
    if body.flags is not UNSET:
        columns["flags"] = row.flags & ~SkuFlags.AVAILABLE | (body.flags or 0) & SkuFlags.AVAILABLE
    if columns:
        await queries.update_sku(ctx.tx, sku_id, **columns)
    return sku_object(structs.replace(row, **columns))


async def delete_skus_of_application(ctx: Context, application_id: ApplicationId) -> None:
    """Delete the SKUs of an application that is being deleted."""
    await queries.delete_skus(ctx.tx, application_id)
