"""API objects of entitlements, and of the subscriptions behind them."""

from typing import Final

from msgspec import UNSET

from moothall.objects.monetization import Entitlement, Subscription, SubscriptionStatus
from moothall.objects.wire import Timestamp
from moothall.resources.entitlement.queries import EntitlementRow

_PERIOD_MS: Final = 30 * 86_400_000


def entitlement_object(row: EntitlementRow) -> Entitlement:
    """The entitlement object of a row."""
    return Entitlement(
        id=row.id,
        sku_id=row.sku_id,
        application_id=row.application_id,
        user_id=row.user_id,
        guild_id=UNSET if row.guild_id is None else row.guild_id,
        deleted=row.deleted,
        consumed=row.consumed,
        starts_at=row.starts_at,
        ends_at=row.ends_at,
    )


def subscription_object(row: EntitlementRow, now: Timestamp) -> Subscription | None:
    """The subscription behind an entitlement, renewed every 30 days; None for an SKU of another type."""
    if row.subscription_id is None:
        return None
    at = now if row.ends_at is None else row.ends_at
    start = row.created_at + (at - row.created_at) // _PERIOD_MS * _PERIOD_MS
    return Subscription(
        id=row.subscription_id,
        user_id=row.user_id,
        sku_ids=[row.sku_id],
        entitlement_ids=[row.id],
        current_period_start=Timestamp(start),
        current_period_end=Timestamp(start + _PERIOD_MS),
        status=SubscriptionStatus.INACTIVE if row.deleted else SubscriptionStatus.ACTIVE,
        canceled_at=row.ends_at,
    )
