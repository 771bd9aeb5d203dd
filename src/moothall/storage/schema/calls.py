"""Calls in direct messages and groups."""

from moothall.objects.ids import ChannelId, MessageId, UserId
from moothall.storage.columns import flag_column, id_column, json_column, moment_column, text_column
from moothall.storage.schema.metadata import clustered, index

calls = clustered(
    "calls",
    id_column("channel_id", ChannelId, key=True),
    id_column("message_id", MessageId),
    text_column("region", nullable=False),
    json_column("ringing", dict[str, int], default={}),  # since when each user is rung, in milliseconds
)
"""The calls that someone is in now."""

call_voice_states = clustered(
    "call_voice_states",
    id_column("user_id", UserId, key=True),
    id_column("channel_id", ChannelId),
    text_column("session_id", nullable=False),
    flag_column("self_deaf"),
    flag_column("self_mute"),
    flag_column("self_video"),
    text_column("node", "", nullable=False),  # the gateway node that holds the session
    index("channel_id"),
)
"""Who is in a call: each user in one at most."""

message_calls = clustered(
    "message_calls",
    id_column("channel_id", ChannelId, key=True),
    id_column("message_id", MessageId, key=True),
    json_column("participants", list[UserId]),
    moment_column("ended_at", nullable=True),
)
"""The calls of messages of type CALL, also of those that have ended."""
