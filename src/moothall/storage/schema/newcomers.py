"""What newcomers answered, and what the guild shows them first."""

from typing import Any

from moothall.objects.ids import GuildId, Snowflake, UserId
from moothall.storage.columns import flag_column, id_column, json_column
from moothall.storage.schema.metadata import clustered, table

onboarding_answers = clustered(
    "onboarding_answers",
    id_column("guild_id", GuildId, key=True),
    id_column("user_id", UserId, key=True),
    json_column("option_ids", list[Snowflake], default=[]),
    json_column("prompts_seen", dict[str, int], default={}),  # milliseconds since the Unix epoch, by prompt
    json_column("options_seen", dict[str, int], default={}),
    json_column("role_ids", list[Snowflake], default=[]),  # those that the answers gave, which they may take again
)
"""What members have answered; gone with the member."""

guild_homes = table(
    "guild_homes",
    id_column("guild_id", GuildId, key=True),
    flag_column("enabled"),
    json_column("welcome_message", dict[str, Any]),
    json_column("new_member_actions", list[dict[str, Any]], default=[]),
    json_column("resource_channels", list[dict[str, Any]], default=[]),
)
"""What newcomers are shown first; a guild that never said so has no row."""
