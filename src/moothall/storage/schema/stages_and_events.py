"""Scheduled events, their subscribers, and stage instances."""

from moothall.objects.ids import ChannelId, GuildId, ScheduledEventId, Snowflake, StageInstanceId, UserId
from moothall.objects.json_object import JsonObject
from moothall.storage.columns import (
    flag_column,
    id_column,
    json_column,
    media_column,
    moment_column,
    number_column,
    text_column,
)
from moothall.storage.schema.metadata import clustered, index

scheduled_events = clustered(
    "scheduled_events",
    id_column("guild_id", GuildId, key=True),
    id_column("id", ScheduledEventId, key=True),
    id_column("channel_id", ChannelId, nullable=True),
    id_column("creator_id", UserId, nullable=True),
    text_column("name", nullable=False),
    text_column("description"),
    media_column("image"),
    moment_column("scheduled_start_time"),
    moment_column("scheduled_end_time", nullable=True),
    number_column("privacy_level", 2),
    number_column("status", 1),
    number_column("entity_type"),
    id_column("entity_id", Snowflake, nullable=True),
    text_column("location"),
    json_column("recurrence_rule", JsonObject),
    json_column("exceptions", list[JsonObject], default=[]),  # occurrences that are not as the rule has them
    number_column("user_count"),
    number_column("tending", None),  # tells the job that looks after it from those enqueued before it was changed
    index("guild_id", "status"),
    index("channel_id"),
)

scheduled_event_users = clustered(
    "scheduled_event_users",
    id_column("guild_id", GuildId, key=True),
    id_column("event_id", ScheduledEventId, key=True),
    id_column("exception_id", Snowflake, key=True),  # one occurrence; 0 for the event as a whole
    id_column("user_id", UserId, key=True),
    number_column("response", 1),
)

stage_instances = clustered(
    "stage_instances",
    id_column("guild_id", GuildId, key=True),
    id_column("channel_id", ChannelId, key=True),
    id_column("id", StageInstanceId),
    text_column("topic", nullable=False),
    number_column("privacy_level", 2),
    flag_column("discoverable_disabled"),
    id_column("guild_scheduled_event_id", ScheduledEventId, nullable=True),
    id_column("opened_by", UserId),
)
