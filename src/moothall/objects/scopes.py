"""OAuth2 scopes (topics: oauth2)."""

from typing import Final

BOT: Final = "bot"
COMMANDS: Final = "applications.commands"
UPDATE_COMMANDS: Final = "applications.commands.update"
WEBHOOK: Final = "webhook.incoming"
OPENID: Final = "openid"
EMAIL: Final = "email"
PREMIUM: Final = "identify.premium"
ENTITLEMENTS: Final = "applications.entitlements"
ROLE_CONNECTIONS: Final = "role_connections.write"

INSTALL_SCOPES: Final = (COMMANDS, BOT)
"""The scopes that installing an application can request."""

ACTIVITY_SCOPES: Final = ("relationships.read", "rpc.activities.write", "rpc.voice.read", "rpc.voice.write")
"""The scopes that only the client checks, for commands and events of an Activity."""

GRANTABLE_SCOPES: Final = frozenset(
    {
        "identify",
        PREMIUM,
        EMAIL,
        "connections",
        "guilds",
        "guilds.join",
        "guilds.members.read",
        "gdm.join",
        "applications.commands.permissions.update",
        ENTITLEMENTS,
        ROLE_CONNECTIONS,
        OPENID,
        WEBHOOK,
        *ACTIVITY_SCOPES,
        *INSTALL_SCOPES,
    }
)
"""The scopes that a user can grant on this server."""

_NOT_FOR_OWNERS: Final = {*INSTALL_SCOPES, *ACTIVITY_SCOPES, WEBHOOK, OPENID}
CLIENT_CREDENTIAL_SCOPES: Final = (GRANTABLE_SCOPES - _NOT_FOR_OWNERS) | {UPDATE_COMMANDS}
"""The scopes that the client credentials grant gives an application for its owner."""

SCOPES: Final = (
    "identify",
    PREMIUM,
    "email",
    "connections",
    "guilds",
    "guilds.join",
    "guilds.members.read",
    "gdm.join",
    BOT,
    "rpc",
    "rpc.notifications.read",
    "rpc.voice.read",
    "rpc.voice.write",
    "rpc.video.read",
    "rpc.video.write",
    "rpc.screenshare.read",
    "rpc.screenshare.write",
    "rpc.activities.write",
    "webhook.incoming",
    "messages.read",
    "applications.builds.upload",
    "applications.builds.read",
    COMMANDS,
    "applications.commands.permissions.update",
    "applications.commands.update",
    "applications.store.update",
    ENTITLEMENTS,
    "activities.read",
    "activities.write",
    "activities.invites.write",
    "relationships.read",
    "voice",
    "dm_channels.read",
    ROLE_CONNECTIONS,
    "openid",
)
"""Every public scope, including those that cannot be granted on this server."""


def read_scopes(text: str) -> list[str]:
    """Split space-separated scopes; duplicates are dropped."""
    return list(dict.fromkeys(text.split()))
