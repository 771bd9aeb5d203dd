"""Settings of users."""

from sqlalchemy import Column

from moothall.objects.ids import GuildId, UserId
from moothall.objects.json_object import JsonObject
from moothall.storage.columns import WholeColumn, bytes_column, id_column, json_column, moment_column, number_column
from moothall.storage.schema.metadata import clustered, index

user_settings = clustered(
    "user_settings",
    id_column("user_id", UserId, key=True),
    json_column("settings", JsonObject, default={}),
)
"""The settings that a user has changed."""

user_settings_protos = clustered(
    "user_settings_protos",
    id_column("user_id", UserId, key=True),
    Column("type", WholeColumn(), primary_key=True, autoincrement=False),
    bytes_column("proto"),  # without what the JSON settings have too
    number_column("data_version"),
)
"""The settings of users as protocol buffers, and how often they were changed."""

user_guild_settings = clustered(
    "user_guild_settings",
    id_column("user_id", UserId, key=True),
    id_column("guild_id", GuildId, key=True),  # 0 for direct messages
    json_column("settings", JsonObject, default={}),
    moment_column("version"),
    index("guild_id"),
)
