"""OAuth2 scopes (topics: oauth2)."""

from typing import Final

BOT: Final = "bot"
COMMANDS: Final = "applications.commands"
UPDATE_COMMANDS: Final = "applications.commands.update"
WEBHOOK: Final = "webhook.incoming"
OPENID: Final = "openid"
EMAIL: Final = "email"

INSTALLING: Final = (COMMANDS, BOT)
"""Those that installing an application can ask for."""

GIVEN: Final = frozenset(
    {
        "identify",
        EMAIL,
        "connections",
        "guilds",
        "guilds.join",
        "guilds.members.read",
        "gdm.join",
        "applications.commands.permissions.update",
        OPENID,
        WEBHOOK,
        *INSTALLING,
    }
)
"""Those that a person can consent to here."""

OWNERS: Final = (GIVEN - {*INSTALLING, WEBHOOK, OPENID}) | {UPDATE_COMMANDS}
"""Those that an application gets for its owner by its secret alone."""

SCOPES: Final = (
    "identify",
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
    "applications.entitlements",
    "activities.read",
    "activities.write",
    "activities.invites.write",
    "relationships.read",
    "voice",
    "dm_channels.read",
    "role_connections.write",
    "openid",
)
"""Every public scope: what an application may name, whether or not anything here gives it."""


def read_scopes(text: str) -> list[str]:
    """The scopes of a request, separated by spaces, each once."""
    return list(dict.fromkeys(text.split()))
