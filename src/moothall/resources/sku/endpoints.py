"""SKUs over HTTP (resources: SKU; the usual clients' paths of the store)."""

from msgspec import Struct

from moothall.api.access import SIGNED_IN
from moothall.api.context import Context
from moothall.api.endpoint import get, patch, post
from moothall.objects.ids import ApplicationId, SkuId
from moothall.objects.monetization import Sku, SkuFlags
from moothall.resources.application.access import READER_OR_BOT, find_application
from moothall.resources.sku import operations, queries
from moothall.resources.sku.requests import CreateSku, ModifySku


@get("/applications/{application_id}/skus", permission=READER_OR_BOT)
async def list_skus(ctx: Context, application_id: ApplicationId) -> list[Sku]:
    """List the SKUs of an application, oldest first."""
    return [operations.sku_object(row) for row in await queries.select_skus_of_application(ctx.tx, application_id)]


class StoreListing(Struct, frozen=True):
    """The listing of an SKU that users see. It has the id of the SKU."""

    id: SkuId
    sku: Sku
    summary: str = ""
    """Always empty: listings have no text of their own."""


@get("/store/published-listings/skus", permission=SIGNED_IN)
async def list_published_listings(ctx: Context, *, application_id: ApplicationId) -> list[StoreListing]:
    """List the SKUs of an application that are available, oldest first."""
    await find_application(ctx, application_id)
    rows = await queries.select_skus_of_application(ctx.tx, application_id)
    return [StoreListing(row.id, operations.sku_object(row)) for row in rows if row.flags & SkuFlags.AVAILABLE]


@post("/store/skus", permission=SIGNED_IN, status=201)
async def create_sku(ctx: Context, body: CreateSku) -> Sku:
    """Create an SKU of an application that the caller manages."""
    return await operations.create_sku(ctx, body)


@get("/store/skus/{sku_id}", permission=SIGNED_IN)
async def get_sku(ctx: Context, sku_id: SkuId) -> Sku:
    """Get an SKU of an application that the caller manages."""
    return operations.sku_object(await operations.find_sku(ctx, sku_id))


@patch("/store/skus/{sku_id}", permission=SIGNED_IN)
async def modify_sku(ctx: Context, sku_id: SkuId, body: ModifySku) -> Sku:
    """Change an SKU's name, and whether it is available."""
    return await operations.modify_sku(ctx, sku_id, body)
