"""Guild templates."""

from moothall.objects.ids import GuildId, UserId
from moothall.objects.template import TemplateSnapshot
from moothall.storage.columns import id_column, json_column, key_column, moment_column, number_column, text_column
from moothall.storage.schema.metadata import index, table

guild_templates = table(
    "guild_templates",
    id_column("guild_id", GuildId, key=True),
    key_column("code"),
    text_column("name", nullable=False),
    text_column("description"),
    number_column("usage_count"),
    id_column("creator_id", UserId),
    moment_column("created_at"),
    moment_column("updated_at"),
    number_column("guild_version"),  # of the snapshot: a guild of another version may differ from it
    json_column("snapshot", TemplateSnapshot, nullable=False),
    index("code", unique=True),
)
"""At most one template of each guild."""
