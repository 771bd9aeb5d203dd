"""Webhook events: events that an application receives by signed requests (events: webhook events)."""

from enum import IntEnum, StrEnum
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.guild import Guild
from moothall.objects.ids import ApplicationId
from moothall.objects.user import User
from moothall.objects.wire import Timestamp


class EventWebhooksStatus(IntEnum):
    """Whether an application receives webhook events."""

    DISABLED = 1
    ENABLED = 2
    DISABLED_BY_PLATFORM = 3
    """After too many events were not acknowledged."""


class WebhookEventType(StrEnum):
    """The events that an application can subscribe to. Those from the sixth on never occur on this server."""

    APPLICATION_AUTHORIZED = "APPLICATION_AUTHORIZED"
    APPLICATION_DEAUTHORIZED = "APPLICATION_DEAUTHORIZED"
    ENTITLEMENT_CREATE = "ENTITLEMENT_CREATE"
    ENTITLEMENT_UPDATE = "ENTITLEMENT_UPDATE"
    ENTITLEMENT_DELETE = "ENTITLEMENT_DELETE"
    QUEST_USER_ENROLLMENT = "QUEST_USER_ENROLLMENT"
    LOBBY_MESSAGE_CREATE = "LOBBY_MESSAGE_CREATE"
    LOBBY_MESSAGE_UPDATE = "LOBBY_MESSAGE_UPDATE"
    LOBBY_MESSAGE_DELETE = "LOBBY_MESSAGE_DELETE"
    GAME_DIRECT_MESSAGE_CREATE = "GAME_DIRECT_MESSAGE_CREATE"
    GAME_DIRECT_MESSAGE_UPDATE = "GAME_DIRECT_MESSAGE_UPDATE"
    GAME_DIRECT_MESSAGE_DELETE = "GAME_DIRECT_MESSAGE_DELETE"


OCCURRING = tuple(WebhookEventType)[:5]
"""The events that occur on this server."""


class WebhookType(IntEnum):
    """The type of a request to the URL of an application."""

    PING = 0
    EVENT = 1


class WebhookEvent(Struct, frozen=True, kw_only=True):
    """What occurred."""

    type: WebhookEventType
    timestamp: Timestamp
    data: Any = UNSET


class WebhookEventPayload(Struct, frozen=True, kw_only=True):
    """The body of a request; a PING has no event."""

    version: int = 1
    application_id: ApplicationId
    type: WebhookType
    event: WebhookEvent | UnsetType = UNSET


class ApplicationAuthorized(Struct, frozen=True, kw_only=True):
    """The data of APPLICATION_AUTHORIZED. Without an installation, `integration_type` and `guild` are absent."""

    integration_type: int | UnsetType = UNSET
    user: User
    scopes: list[str]
    guild: Guild | UnsetType = UNSET


class ApplicationDeauthorized(Struct, frozen=True, kw_only=True):
    """The data of APPLICATION_DEAUTHORIZED."""

    user: User
