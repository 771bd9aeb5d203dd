"""Application commands, their permissions, and interactions."""

from typing import Any

from moothall.objects.ids import (
    ApplicationId,
    ChannelId,
    CommandId,
    GuildId,
    InteractionId,
    MessageId,
    Snowflake,
    UserId,
)
from moothall.objects.json_object import JsonObject
from moothall.storage.columns import (
    bytes_column,
    id_column,
    json_column,
    key_column,
    moment_column,
    number_column,
    text_column,
)
from moothall.storage.schema.metadata import clustered, index, table

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
    json_column("permissions", list[JsonObject], default=[]),  # of {id, type, permission}
    index("application_id"),
)

command_creations = clustered(
    "command_creations",
    id_column("application_id", ApplicationId, key=True),
    id_column("guild_id", GuildId, key=True),
    number_column("day"),  # since the Unix epoch
    number_column("count"),
    index("guild_id"),
)
"""How many commands an application has created today in one scope."""

interactions = table(
    "interactions",
    id_column("id", InteractionId, key=True),
    id_column("application_id", ApplicationId),
    id_column("user_id", UserId),
    id_column("guild_id", GuildId, nullable=True),
    id_column("channel_id", ChannelId),
    number_column("type"),
    bytes_column("token_hash"),  # SHA-256
    number_column("state"),
    number_column("callback", None),  # the type of the answer
    text_column("nonce"),
    text_column("name"),  # of the command
    json_column("owners", dict[str, str], default={}),  # authorizing_integration_owners
    json_column("metadata", JsonObject, default={}),  # interaction_metadata of what it answers
    id_column("source_id", MessageId, nullable=True),  # the message whose component was used
    id_column("source_room_id", ChannelId, nullable=True),  # where that lies
    id_column("response_id", MessageId, nullable=True),  # @original
    id_column("response_room_id", ChannelId, nullable=True),
    json_column("modal", JsonObject),  # the one that it was answered with, until it is handed in
    number_column("followups"),
    moment_column("created_at"),
    text_column("session_id"),  # the gateway session of the client that created it
    index("application_id", "token_hash"),
    index("created_at"),
)
"""Interactions of the last quarter of an hour or so."""

ephemeral_messages = table(
    "ephemeral_messages",
    id_column("id", MessageId, key=True),
    id_column("interaction_id", InteractionId),
    id_column("channel_id", ChannelId),
    id_column("application_id", ApplicationId),
    id_column("user_id", UserId),
    index("interaction_id"),
)
"""Messages that one person sees. Each lies among `messages` in a room of its own interaction, whose id is no
channel's, so that no history, search or page can ever have it.
"""
