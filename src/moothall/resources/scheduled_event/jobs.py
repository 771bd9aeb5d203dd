"""Jobs of scheduled events that need no announcement; `AdvanceEvent` is in `operations.lifecycle`."""

from typing import ClassVar

from msgspec import structs

from moothall.api.context import Context
from moothall.api.jobs import Job, job
from moothall.objects.ids import GuildId, ScheduledEventId
from moothall.resources.scheduled_event import queries


@job
class DeleteEventUsers(Job, frozen=True, kw_only=True):
    """Deletes the responses to deleted events, `queries.BATCH_SIZE` rows at a time."""

    kind: ClassVar[str] = "forget_event_users"
    guild_id: GuildId
    event_ids: list[ScheduledEventId]

    async def step(self, ctx: Context) -> Job | None:
        """Delete one batch of rows."""
        if not self.event_ids:
            return None
        if await queries.delete_response_batch(ctx.tx, self.guild_id, self.event_ids[0]):
            return self
        return structs.replace(self, event_ids=self.event_ids[1:])
