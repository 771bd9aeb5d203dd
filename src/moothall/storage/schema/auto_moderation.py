"""Auto moderation rules."""

from moothall.objects.ids import GuildId, RuleId, Snowflake, UserId
from moothall.objects.json_object import JsonObject
from moothall.storage.columns import flag_column, id_column, json_column, number_column, text_column
from moothall.storage.schema.metadata import clustered

auto_moderation_rules = clustered(
    "auto_moderation_rules",
    id_column("guild_id", GuildId, key=True),
    id_column("id", RuleId, key=True),
    text_column("name", nullable=False),
    id_column("creator_id", UserId),
    number_column("event_type"),
    number_column("trigger_type"),
    json_column("trigger_metadata", JsonObject, default={}),
    json_column("actions", list[JsonObject], default=[]),
    flag_column("enabled"),
    json_column("exempt_roles", list[Snowflake], default=[]),
    json_column("exempt_channels", list[Snowflake], default=[]),
)
