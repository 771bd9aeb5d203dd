"""Accounts elsewhere that people name as theirs (resources: user, connections)."""

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
"""The services that clients know."""


class ConnectionVisibility(IntEnum):
    """Who sees a connection."""

    NONE = 0
    EVERYONE = 1


class Connection(Struct, frozen=True, kw_only=True):
    """An account elsewhere. Nothing here asks the service: none is verified, and none is linked both ways."""

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
