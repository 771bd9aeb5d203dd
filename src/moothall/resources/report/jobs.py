"""Deleting reports when their time is over."""

from typing import ClassVar

from moothall.api.context import Context
from moothall.api.jobs import Job, job
from moothall.objects.ids import Snowflake
from moothall.resources.report import queries


@job
class DeleteReport(Job, frozen=True, kw_only=True):
    """Deletes a report with its evidence."""

    kind: ClassVar[str] = "delete_report"
    report_id: Snowflake

    async def step(self, ctx: Context) -> None:
        """Delete it."""
        await queries.delete_report(ctx.tx, self.report_id)
