"""Archives of one's own data over HTTP (resources: user; the paths of the usual clients)."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.api.access import PERSON
from moothall.api.context import Context
from moothall.api.endpoint import get, post
from moothall.resources.harvest import operations, queries
from moothall.resources.harvest.links import ArchiveLinks
from moothall.resources.harvest.objects import Harvest, harvest_object
from moothall.resources.user.queries import select_user

_MAX_BACKENDS = 20


class CreateHarvest(Struct, frozen=True):
    """The kinds of data: Accounts, Messages, Servers. Unknown ones are ignored; without a known one it is all."""

    backends: Annotated[list[Any], Meta(max_length=_MAX_BACKENDS)] | UnsetType | None = UNSET


@get("/users/@me/harvest", permission=PERSON)
async def get_user_harvest(ctx: Context) -> Harvest | None:
    """Get the caller's newest request for an archive of their data; 204 without one."""
    row = await queries.select_harvest(ctx.tx, ctx.actor.user_id)
    return None if row is None else await _object(ctx, row)


@post("/users/@me/harvest", permission=PERSON)
async def create_user_harvest(ctx: Context, body: CreateHarvest) -> Harvest:
    """Request an archive of the caller's data, once a day. It can be downloaded for a week."""
    names = [name for name in body.backends or () if isinstance(name, str)]
    return await _object(ctx, await operations.create_harvest(ctx, names))


async def _object(ctx: Context, row: queries.HarvestRow) -> Harvest:
    user = await select_user(ctx.tx, ctx.actor.user_id)
    return harvest_object(row, None if user is None else user.email, ctx.services.resources[ArchiveLinks])
