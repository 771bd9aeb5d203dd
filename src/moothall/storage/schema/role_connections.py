"""What applications know of users elsewhere, and the roles of guilds that require it."""

from moothall.objects.ids import ApplicationId, GuildId, RoleId, UserId
from moothall.objects.role_connection import MetadataRecord, Requirement
from moothall.storage.columns import id_column, json_column, moment_column, text_column
from moothall.storage.schema.metadata import clustered, index, table

role_connection_metadata = table(
    "role_connection_metadata",
    id_column("application_id", ApplicationId, key=True),
    json_column("records", list[MetadataRecord], nullable=False),
)
"""The metadata fields of applications that have any."""

role_connections = clustered(
    "role_connections",
    id_column("application_id", ApplicationId, key=True),
    id_column("user_id", UserId, key=True),
    text_column("platform_name"),
    text_column("platform_username"),
    json_column("metadata", dict[str, str], nullable=False),
    index("user_id"),
)
"""What applications have stored for users."""

linked_roles = clustered(
    "linked_roles",
    id_column("guild_id", GuildId, key=True),
    id_column("role_id", RoleId, key=True),
    json_column("rules", list[list[Requirement]], nullable=False),
)
"""The roles that members claim for themselves, with what they require."""

linked_role_applications = clustered(
    "linked_role_applications",
    id_column("application_id", ApplicationId, key=True),
    id_column("guild_id", GuildId, key=True),
    id_column("role_id", RoleId, key=True),
    index("guild_id", "role_id"),
)
"""The applications that linked roles refer to."""

linked_role_members = clustered(
    "linked_role_members",
    id_column("guild_id", GuildId, key=True),
    id_column("role_id", RoleId, key=True),
    id_column("user_id", UserId, key=True),
    moment_column("expires_at", nullable=True),  # when a date will be too long ago
    index("user_id", "guild_id"),
)
"""The members who have claimed a linked role. A row may outlive the membership until the role is checked again."""
