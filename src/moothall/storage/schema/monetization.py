"""What applications offer, and who may use it."""

from moothall.objects.ids import ApplicationId, EntitlementId, GuildId, SkuId, Snowflake, SubscriptionId, UserId
from moothall.storage.columns import flag_column, id_column, moment_column, number_column, text_column
from moothall.storage.schema.metadata import clustered, index, table

skus = table(
    "skus",
    id_column("id", SkuId, key=True),
    id_column("application_id", ApplicationId),
    number_column("type"),
    text_column("name", nullable=False),
    number_column("flags"),
    index("application_id"),
)

entitlements = clustered(
    "entitlements",
    id_column("application_id", ApplicationId, key=True),
    id_column("id", EntitlementId, key=True),
    id_column("sku_id", SkuId),
    id_column("owner_id", Snowflake),  # a guild or a user
    id_column("guild_id", GuildId, nullable=True),  # the owner, if that is a guild
    id_column("user_id", UserId),  # the owner, or who owns the application
    id_column("subscription_id", SubscriptionId, nullable=True),
    moment_column("created_at"),
    moment_column("starts_at", nullable=True),
    moment_column("ends_at", nullable=True),
    flag_column("consumed"),
    flag_column("deleted"),
    index("application_id", "owner_id"),
    index("guild_id"),
    index("sku_id", "subscription_id"),
)
