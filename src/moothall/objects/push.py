"""Subscriptions to Web Push, a row of this server's own."""

from msgspec import Struct

from moothall.objects.ids import Snowflake


class PushSubscription(Struct, frozen=True, kw_only=True):
    """The subscription of a browser."""

    id: Snowflake
    host: str
    """The host of its push service."""
    current: bool
    """Whether the login of this request has subscribed."""


class PushState(Struct, frozen=True, kw_only=True):
    """What a browser needs to subscribe, and the user's subscriptions."""

    public_key: str | None
    """The server's key, as `applicationServerKey` takes it; null where the operator has set none."""
    subscriptions: list[PushSubscription]
