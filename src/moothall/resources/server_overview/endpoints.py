"""The overview over HTTP."""

from msgspec import Struct

from moothall import __version__
from moothall.api.context import Context
from moothall.api.endpoint import get
from moothall.api.operators import OPERATOR
from moothall.resources.operator.queries import count_operators
from moothall.resources.server_overview.queries import Figures, select_figures
from moothall.storage.migrations import HEAD


class Overview(Struct, frozen=True):
    """The server at this moment."""

    instance_name: str
    version: str
    revision: str
    """Of the database's tables."""
    registration: str
    """Who may register: the setting of that name."""
    operators: int
    figures: Figures


@get("/admin/v1/overview", permission=OPERATOR)
async def get_server_overview(ctx: Context) -> Overview:
    """Return how much there is on the server, and what waits or has failed."""
    limits = ctx.services.limits
    return Overview(
        instance_name=limits.instance_name,
        version=__version__,
        revision=HEAD,
        registration=limits.registration,
        operators=await count_operators(ctx.tx),
        figures=await select_figures(ctx.tx),
    )
