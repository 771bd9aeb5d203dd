"""Connections: accounts of users on other services (resources: user, connections)."""

from enum import IntEnum
from typing import Any, Final

from msgspec import Struct

SERVICES: Final = (
    "amazon-music",
    "battlenet",
    "bluesky",
    "bungie",
    "crunchyroll",
    "domain",
    "ebay",
    "epicgames",
    "facebook",
    "github",
    "instagram",
    "mastodon",
    "paypal",
    "playstation",
    "reddit",
    "roblox",
    "skype",
    "spotify",
    "steam",
    "tiktok",
    "twitch",
    "twitter",
    "xbox",
    "youtube",
)
"""The services that clients support."""


class ConnectionVisibility(IntEnum):
    """The visibility of a connection."""

    NONE = 0
    EVERYONE = 1


class Connection(Struct, frozen=True, kw_only=True):
    """A user's account on another service.

    The server contacts no service, so connections are never verified or linked.
    """

    id: str
    name: str
    type: str
    revoked: bool = False
    integrations: list[Any] = []
    verified: bool
    friend_sync: bool = False
    show_activity: bool
    two_way_link: bool = False
    visibility: ConnectionVisibility


class PublicConnection(Struct, frozen=True, kw_only=True):
    """A connection as it shows in its user's profile."""

    id: str
    name: str
    type: str
    verified: bool
