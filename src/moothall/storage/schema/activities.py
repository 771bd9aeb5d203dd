"""Running Activities, who takes part in them, and links that lead into them."""

from moothall.objects.ids import ActivityInstanceId, ApplicationId, ChannelId, GuildId, QuickLinkId, UserId
from moothall.storage.columns import id_column, key_column, media_column, moment_column, text_column
from moothall.storage.schema.metadata import clustered, index, table

activity_instances = table(
    "activity_instances",
    id_column("id", ActivityInstanceId, key=True),
    id_column("application_id", ApplicationId),
    id_column("channel_id", ChannelId),
    id_column("guild_id", GuildId, nullable=True),
    moment_column("created_at"),
    index("application_id", "channel_id", unique=True),
    index("channel_id"),
    index("guild_id"),
)
"""One for each application and channel. An instance is deleted with its last participant."""

activity_participants = clustered(
    "activity_participants",
    id_column("instance_id", ActivityInstanceId, key=True),
    id_column("user_id", UserId, key=True),
    key_column("session_id"),
    text_column("node", "", nullable=False),  # the gateway node that holds the session
    moment_column("joined_at"),
    index("user_id", "session_id"),
    index("node"),
)
"""A user takes part in an instance with one gateway session, the last one that joined it."""

quick_links = table(
    "quick_links",
    id_column("id", QuickLinkId, key=True),
    id_column("application_id", ApplicationId),
    text_column("title", nullable=False),
    text_column("description", nullable=False),
    media_column("image", nullable=False),
    text_column("custom_id"),
    index("application_id"),
)
"""Links into Activities, for 30 days."""
