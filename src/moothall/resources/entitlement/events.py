"""The gateway events of entitlements, sent to the application's bot and the user, and of subscriptions, to the bot."""

from typing import ClassVar

from moothall.api.events import Event
from moothall.bus import Audience
from moothall.objects.ids import UserId
from moothall.objects.monetization import Entitlement, Subscription


class _EntitlementEvent(Event, frozen=True, kw_only=True):
    audience: ClassVar[Audience] = Audience.USERS
    user_ids: tuple[UserId, ...]
    """The application's bot, and the user who was granted it; of a guild's entitlement the bot alone."""
    entitlement: Entitlement

    def payload(self) -> object:
        """The entitlement."""
        return self.entitlement


class EntitlementCreate(_EntitlementEvent, frozen=True, kw_only=True):
    """ENTITLEMENT_CREATE: a user or a guild was granted an SKU."""

    name: ClassVar[str] = "ENTITLEMENT_CREATE"


class EntitlementUpdate(_EntitlementEvent, frozen=True, kw_only=True):
    """ENTITLEMENT_UPDATE: an entitlement was consumed."""

    name: ClassVar[str] = "ENTITLEMENT_UPDATE"


class EntitlementDelete(_EntitlementEvent, frozen=True, kw_only=True):
    """ENTITLEMENT_DELETE: an entitlement was deleted."""

    name: ClassVar[str] = "ENTITLEMENT_DELETE"


class _SubscriptionEvent(Event, frozen=True, kw_only=True):
    audience: ClassVar[Audience] = Audience.USERS
    user_ids: tuple[UserId, ...]
    subscription: Subscription

    def payload(self) -> object:
        """The subscription."""
        return self.subscription


class SubscriptionCreate(_SubscriptionEvent, frozen=True, kw_only=True):
    """SUBSCRIPTION_CREATE: a subscription began."""

    name: ClassVar[str] = "SUBSCRIPTION_CREATE"


class SubscriptionUpdate(_SubscriptionEvent, frozen=True, kw_only=True):
    """SUBSCRIPTION_UPDATE: a subscription was cancelled."""

    name: ClassVar[str] = "SUBSCRIPTION_UPDATE"


class SubscriptionDelete(_SubscriptionEvent, frozen=True, kw_only=True):
    """SUBSCRIPTION_DELETE: a subscription was deleted with its entitlement; as this, it is listed still."""

    name: ClassVar[str] = "SUBSCRIPTION_DELETE"
