"""Application commands, who may use them where, and the interactions that people raise."""

from typing import Any

from moothall.objects.ids import ApplicationId, CommandId, GuildId, Snowflake
from moothall.storage.columns import id_column, json_column, key_column, number_column
from moothall.storage.schema.metadata import clustered, index

commands = clustered(
    "commands",
    id_column("application_id", ApplicationId, key=True),
    id_column("guild_id", GuildId, key=True),  # 0: everywhere
    id_column("id", CommandId, key=True),
    number_column("type"),
    key_column("name"),
    json_column("definition", dict[str, Any], default={}),  # what it consists of besides its columns
    id_column("version", Snowflake),
    index("application_id", "guild_id", "type", "name", unique=True),
    index("guild_id"),
    index("id"),
)

command_permissions = clustered(
    "command_permissions",
    id_column("guild_id", GuildId, key=True),
    id_column("application_id", ApplicationId, key=True),
    id_column("command_id", Snowflake, key=True),  # or the application's id: for all that say nothing
    json_column("permissions", list[dict[str, Any]], default=[]),  # of {id, type, permission}
    index("application_id"),
)

command_creations = clustered(
    "command_creations",
    id_column("application_id", ApplicationId, key=True),
    id_column("guild_id", GuildId, key=True),
    number_column("day"),  # since the Unix epoch
    number_column("count"),
)
"""How many commands an application has made today in one scope."""
