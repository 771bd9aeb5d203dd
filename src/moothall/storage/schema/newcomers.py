"""Answers to onboarding and membership screening, and the guild home."""

from moothall.objects.ids import GuildId, JoinRequestId, Snowflake, UserId
from moothall.objects.json_object import JsonObject
from moothall.storage.columns import flag_column, id_column, json_column, moment_column, text_column
from moothall.storage.schema.metadata import clustered, index, table

onboarding_answers = clustered(
    "onboarding_answers",
    id_column("guild_id", GuildId, key=True),
    id_column("user_id", UserId, key=True),
    json_column("option_ids", list[Snowflake], default=[]),
    json_column("prompts_seen", dict[str, int], default={}),  # milliseconds since the Unix epoch, by prompt
    json_column("options_seen", dict[str, int], default={}),
    json_column("role_ids", list[Snowflake], default=[]),  # those that the answers gave, which they may take again
)
"""Answers of members; deleted with the member."""

guild_homes = table(
    "guild_homes",
    id_column("guild_id", GuildId, key=True),
    flag_column("enabled"),
    json_column("welcome_message", JsonObject),
    json_column("new_member_actions", list[JsonObject], default=[]),
    json_column("resource_channels", list[JsonObject], default=[]),
)
"""The guild home (new member welcome); a guild that never changed it has no row."""

home_progress = clustered(
    "home_progress",
    id_column("guild_id", GuildId, key=True),
    id_column("user_id", UserId, key=True),
    json_column("channel_ids", list[Snowflake], default=[]),  # those whose action is completed
)
"""Which new member actions members have completed; deleted with the member."""

join_requests = clustered(
    "join_requests",
    id_column("guild_id", GuildId, key=True),
    id_column("id", JoinRequestId, key=True),
    id_column("user_id", UserId),
    text_column("status", nullable=False),
    moment_column("created_at"),
    moment_column("reviewed_at", nullable=True),
    id_column("reviewer_id", UserId, nullable=True),
    text_column("rejection_reason"),
    json_column("form_responses", list[JsonObject], default=[]),
    index("guild_id", "user_id"),
    index("guild_id", "status", "id"),
)
"""What pending members answered to a form that moderators review."""
