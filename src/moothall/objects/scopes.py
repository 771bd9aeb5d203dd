"""OAuth2 scopes (topics: oauth2)."""

from typing import Final

BOT: Final = "bot"
COMMANDS: Final = "applications.commands"

INSTALLING: Final = (COMMANDS, BOT)
"""Those that installing an application can ask for."""

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
