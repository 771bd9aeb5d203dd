"""The job that deletes the entitlements of a deleted application."""

from typing import ClassVar

from moothall.api.context import Context
from moothall.api.jobs import Job, job
from moothall.objects.ids import ApplicationId
from moothall.resources.entitlement import queries


@job
class DeleteEntitlements(Job, frozen=True, kw_only=True):
    """Deletes the entitlements of a deleted application."""

    kind: ClassVar[str] = "delete entitlements"
    application_id: ApplicationId

    async def step(self, ctx: Context) -> Job | None:
        """Delete some hundred rows."""
        return self if await queries.delete_some_entitlements(ctx.tx, self.application_id) else None
