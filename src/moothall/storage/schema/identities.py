"""Identity providers, and the people whom they know."""

from moothall.objects.ids import GuildId, RoleId, Snowflake, UserId
from moothall.storage.columns import (
    bytes_column,
    flag_column,
    id_column,
    key_column,
    moment_column,
    number_column,
    text_column,
)
from moothall.storage.schema.metadata import clustered, index, table

identity_providers = table(
    "identity_providers",
    id_column("id", Snowflake, key=True),
    key_column("name"),  # as it is in URLs
    text_column("label", nullable=False),  # what people read
    text_column("issuer", nullable=False),
    text_column("client_id", nullable=False),
    bytes_column("client_secret", nullable=True),  # encrypted with the server's key; NULL for a public client
    text_column("scopes", nullable=False),  # separated by spaces
    text_column("username_claim", nullable=False),
    text_column("groups_claim", nullable=False),
    flag_column("creates_accounts"),  # whether those who log in for the first time get an account
    flag_column("enabled"),
    moment_column("created_at"),
    index("name", unique=True),
)
"""Providers of OpenID Connect that people log in with."""

provider_groups = clustered(
    "provider_groups",
    id_column("guild_id", GuildId, key=True),
    id_column("id", Snowflake, key=True),
    id_column("provider_id", Snowflake),
    text_column("name", nullable=False),  # of the group, as the provider has it
    id_column("role_id", RoleId, nullable=True),  # NULL for the membership alone
    index("provider_id"),
)
"""Groups of providers whose people are members of a guild, and may have a role there."""

provider_memberships = clustered(
    "provider_memberships",
    id_column("guild_id", GuildId, key=True),
    id_column("user_id", UserId, key=True),
    id_column("provider_id", Snowflake),
    index("user_id"),
)
"""Members whom a group of a provider has made that, and who cease to be when they leave it."""

identities = clustered(
    "identities",
    id_column("provider_id", Snowflake, key=True),
    key_column("subject", key=True),  # the `sub` of the provider
    id_column("user_id", UserId),
    text_column("name"),  # what the provider called the person at their last login
    moment_column("created_at"),
    moment_column("last_login_at", nullable=True),
    flag_column("ended"),  # by its user, or with the account: no one logs in with it
    index("user_id"),
)
"""People as providers know them, and their accounts here."""

scim_users = clustered(
    "scim_users",
    id_column("provider_id", Snowflake, key=True),
    id_column("user_id", UserId, key=True),
    key_column("user_name_key"),  # casefolded; a text that no userName can be once the resource is deleted
    key_column("external_id", nullable=True),  # what the provider calls the person
    text_column("attributes", nullable=False),  # JSON, as the provider has set them
    flag_column("deactivated"),  # the account is suspended because the provider says so
    flag_column("removed"),  # the provider has deleted the resource
    number_column("version"),
    moment_column("created_at"),
    moment_column("updated_at"),
    index("provider_id", "user_name_key", unique=True),
    index("provider_id", "external_id"),
    index("user_id"),
)
"""Accounts that a provider has made by SCIM, and what it says of their people."""

scim_groups = clustered(
    "scim_groups",
    id_column("provider_id", Snowflake, key=True),
    id_column("id", Snowflake, key=True),
    key_column("display_name"),
    key_column("external_id", nullable=True),
    number_column("version"),
    moment_column("created_at"),
    moment_column("updated_at"),
    index("provider_id", "display_name", unique=True),
)
"""Groups that a provider has told of by SCIM. What their people get is in `provider_groups`, by the name."""

scim_group_members = clustered(
    "scim_group_members",
    id_column("provider_id", Snowflake, key=True),
    id_column("group_id", Snowflake, key=True),
    id_column("user_id", UserId, key=True),
    index("user_id", "provider_id"),
)
"""The members of such groups."""
