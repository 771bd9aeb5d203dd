"""Figures over time over HTTP."""

from typing import Annotated

from msgspec import Meta

from moothall.api.context import Context
from moothall.api.endpoint import get
from moothall.api.operators import OPERATOR
from moothall.resources.server_figure.queries import select_figures_after
from moothall.resources.server_figure.rules import HOUR_MS, SPANS, FigureSample, Span, samples_of


@get("/admin/v1/figures", permission=OPERATOR)
async def list_server_figures(
    ctx: Context, *, span: Span = "hour", limit: Annotated[int, Meta(ge=1, le=732)] = 48
) -> list[FigureSample]:
    """List figures of the last hours or days, in UTC, oldest first; those of the present one grow.

    Figures by hour go back for 14 days, those by day for two years.
    """
    length = SPANS[span]
    hour = int(ctx.now) // HOUR_MS
    return samples_of(await select_figures_after(ctx.tx, length, hour - hour % length - limit * length))
