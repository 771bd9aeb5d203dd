"""SKUs, entitlements and subscriptions (resources: SKU, entitlement, subscription)."""

from enum import IntEnum
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.ids import ApplicationId, EntitlementId, GuildId, SkuId, Snowflake, SubscriptionId, UserId
from moothall.objects.wire import Timestamp


class SkuType(IntEnum):
    """The type of an SKU."""

    DURABLE = 2
    CONSUMABLE = 3
    SUBSCRIPTION = 5
    SUBSCRIPTION_GROUP = 6
    """Created with each SUBSCRIPTION."""


class SkuFlags:
    """The bits of an SKU's `flags`."""

    AVAILABLE: Final = 1 << 2
    GUILD_SUBSCRIPTION: Final = 1 << 7
    USER_SUBSCRIPTION: Final = 1 << 8

    SUBSCRIPTIONS: Final = GUILD_SUBSCRIPTION | USER_SUBSCRIPTION
    SETTABLE: Final = AVAILABLE | SUBSCRIPTIONS


class Sku(Struct, frozen=True, kw_only=True):
    """A premium offering of an application. The fields of stores are as those of an application without one."""

    id: SkuId
    type: SkuType
    dependent_sku_id: SkuId | None = None
    application_id: ApplicationId
    manifest_labels: None = None
    access_type: int = 1
    name: str
    features: list[int] = []
    release_date: str | None = None
    premium: bool = False
    slug: str
    flags: int
    show_age_gate: bool = False


class OwnerType(IntEnum):
    """The kind of owner of an entitlement."""

    GUILD = 1
    USER = 2


APPLICATION_SUBSCRIPTION: Final = 8
"""The type of test entitlements."""


class Entitlement(Struct, frozen=True, kw_only=True):
    """Access of a user or a guild to an SKU. That of a guild has the user who owns the application as `user_id`."""

    id: EntitlementId
    sku_id: SkuId
    application_id: ApplicationId
    user_id: UserId
    guild_id: GuildId | UnsetType = UNSET
    promotion_id: Snowflake | None = None
    type: int = APPLICATION_SUBSCRIPTION
    deleted: bool
    gift_code_flags: int = 0
    consumed: bool
    starts_at: Timestamp | None
    ends_at: Timestamp | None


class SubscriptionStatus(IntEnum):
    """The status of a subscription."""

    ACTIVE = 0
    INACTIVE = 1
    ENDING = 2


class Subscription(Struct, frozen=True, kw_only=True):
    """The subscription behind an entitlement to an SKU of type SUBSCRIPTION."""

    id: SubscriptionId
    user_id: UserId
    sku_ids: list[SkuId]
    renewal_sku_ids: list[SkuId] | None = None
    entitlement_ids: list[EntitlementId]
    current_period_start: Timestamp
    current_period_end: Timestamp
    status: SubscriptionStatus
    canceled_at: Timestamp | None
