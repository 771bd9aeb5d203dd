"""Members, former members, bans and voice states."""

from sqlalchemy import literal_column

from moothall.objects.ids import ChannelId, GuildId, Snowflake, UserId
from moothall.storage.columns import (
    flag_column,
    id_column,
    json_column,
    key_column,
    media_column,
    moment_column,
    number_column,
    text_column,
)
from moothall.storage.schema.metadata import clustered, index, partial_index

members = clustered(
    "members",
    id_column("guild_id", GuildId, key=True),
    id_column("user_id", UserId, key=True),
    text_column("nick"),
    key_column("nick_key", nullable=True),  # casefolded, accents stripped
    key_column("username_key"),  # the user's, kept here so that a search stays in one guild
    media_column("avatar"),
    media_column("banner"),
    text_column("bio"),
    json_column("roles", list[Snowflake], default=[]),
    moment_column("joined_at"),
    moment_column("premium_since", nullable=True),
    flag_column("deaf"),
    flag_column("mute"),
    number_column("flags"),
    flag_column("pending"),
    moment_column("communication_disabled_until", nullable=True),
    flag_column("temporary"),
    id_column("guest_channel_id", ChannelId, nullable=True),  # the one channel that a guest sees
    index("user_id", "guild_id"),
    index("guild_id", "username_key"),
    index("guild_id", "nick_key"),
)
partial_index("ix_members_guest_channel_id", members.c.guest_channel_id, where=members.c.guest_channel_id.is_not(None))

_is_quarantined = members.c.flags.bitwise_and(literal_column("1152")) != literal_column("0")
partial_index("ix_members_quarantined", members.c.guild_id, members.c.user_id, where=_is_quarantined)

member_activity = clustered(
    "member_activity",
    id_column("guild_id", GuildId, key=True),
    id_column("user_id", UserId, key=True),
    moment_column("last_seen_at"),
)

former_members = clustered(
    "former_members",
    id_column("guild_id", GuildId, key=True),
    id_column("user_id", UserId, key=True),
    moment_column("left_at"),
    flag_column("deaf", added=True),
    flag_column("mute", added=True),
    moment_column("communication_disabled_until", nullable=True),
    index("user_id"),
)
"""Former members, so that a rejoin is recognized, with what moderators did to them and a rejoin does not undo."""

bans = clustered(
    "bans",
    id_column("guild_id", GuildId, key=True),
    id_column("user_id", UserId, key=True),
    text_column("reason"),
    moment_column("created_at"),
)

voice_states = clustered(
    "voice_states",
    id_column("guild_id", GuildId, key=True),
    id_column("user_id", UserId, key=True),
    id_column("channel_id", ChannelId),
    text_column("session_id", nullable=False),
    flag_column("self_deaf"),
    flag_column("self_mute"),
    flag_column("self_stream"),
    flag_column("self_video"),
    flag_column("suppress"),
    moment_column("request_to_speak_timestamp", nullable=True),
    text_column("node", "", nullable=False),  # the gateway node that holds the session
    moment_column("started_at", nullable=True),  # when the first of those in the channel entered it
    moment_column("connected_at", nullable=True),  # when the user entered voice in this guild
    index("channel_id"),
    index("user_id"),
)

voice_statuses = clustered(
    "voice_statuses",
    id_column("guild_id", GuildId, key=True),
    id_column("channel_id", ChannelId, key=True),
    text_column("status", nullable=False),
)
"""What members say is happening in voice channels; a channel without a status has no row."""
