"""Scheduled events follow their channel and their stage."""

from moothall.resources.channel.operations import CHANNEL_DELETING
from moothall.resources.scheduled_event.events import GuildScheduledEventUpdate
from moothall.resources.scheduled_event.operations import (
    REMOVING_CHANNEL,
    check_stage_event,
    mark_started,
    remove_events_of_channel,
)
from moothall.resources.scheduled_event.stages import end_event_of_stage
from moothall.resources.stage_instance.operations import STAGE_CLOSED, STAGE_OPENED, STAGE_OPENING

CHANNEL_DELETING.register(remove_events_of_channel, fires=REMOVING_CHANNEL, order=20)
STAGE_OPENING.register(check_stage_event)
STAGE_OPENED.register(mark_started, fires=(GuildScheduledEventUpdate,))
STAGE_CLOSED.register(end_event_of_stage, fires=(GuildScheduledEventUpdate,))
