"""Application emojis and soundboard sounds."""

from moothall.objects.ids import ApplicationId, EmojiId, GuildId, SoundId, UserId
from moothall.storage.columns import flag_column, id_column, json_column, media_column, text_column
from moothall.storage.schema.metadata import clustered, index

sounds = clustered(
    "sounds",
    id_column("guild_id", GuildId, key=True),
    id_column("id", SoundId, key=True),
    text_column("name", nullable=False),
    json_column("volume", float, default=1.0),
    id_column("emoji_id", EmojiId, nullable=True),
    text_column("emoji_name"),
    id_column("user_id", UserId, nullable=True),
    media_column("file", "sounds", nullable=False),  # the hash of what is heard
    text_column("format", nullable=False),
    index("id"),
)

application_emojis = clustered(
    "application_emojis",
    id_column("application_id", ApplicationId, key=True),
    id_column("id", EmojiId, key=True),
    text_column("name", nullable=False),
    id_column("user_id", UserId, nullable=True),
    flag_column("animated"),
    media_column("image", nullable=False),
    index("id"),
)
