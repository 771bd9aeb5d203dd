"""Request bodies of entitlements."""

from msgspec import Struct

from moothall.objects.ids import SkuId, Snowflake
from moothall.objects.monetization import OwnerType


class CreateTestEntitlement(Struct, frozen=True, kw_only=True):
    """A new test entitlement of a guild or a user."""

    sku_id: SkuId
    owner_id: Snowflake
    owner_type: OwnerType
