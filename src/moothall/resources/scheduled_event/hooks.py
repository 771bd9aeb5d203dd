"""Deletes scheduled events with their channel; starts and ends them with their stage."""

from moothall.resources.channel.operations import CHANNEL_DELETING
from moothall.resources.scheduled_event.events import GuildScheduledEventUpdate
from moothall.resources.scheduled_event.operations.scheduled_events import (
    DELETE_CHANNEL_FIRES,
    delete_events_of_channel,
)
from moothall.resources.scheduled_event.operations.stages import (
    check_stage_event,
    end_event_of_stage,
    mark_event_started,
)
from moothall.resources.stage_instance.operations import STAGE_CLOSED, STAGE_OPENED, STAGE_OPENING

CHANNEL_DELETING.register(delete_events_of_channel, fires=DELETE_CHANNEL_FIRES, order=20)
STAGE_OPENING.register(check_stage_event)
STAGE_OPENED.register(mark_event_started, fires=(GuildScheduledEventUpdate,))
STAGE_CLOSED.register(end_event_of_stage, fires=(GuildScheduledEventUpdate,))
