"""Labels for people of scopes, permissions and the parameters of an authorization link."""

from typing import Final

from moothall.objects.permissions import BY_NAME
from moothall.objects.scopes import BOT, COMMANDS, ENTITLEMENTS, ROLE_CONNECTIONS, UPDATE_COMMANDS, WEBHOOK

SCOPE_LABELS: Final = {
    "identify": "See your username, name, picture and banner",
    "email": "See your email address",
    "connections": "See the accounts elsewhere that you have connected",
    "guilds": "See which servers you are in",
    "guilds.join": "Join servers for you",
    "guilds.members.read": "See your nickname, picture and roles in your servers",
    "gdm.join": "Join group chats for you",
    "applications.commands.permissions.update": "Change who may use its commands in servers that you manage",
    ENTITLEMENTS: "See what you have of its offers",
    ROLE_CONNECTIONS: "Say what you are there, by which you can claim roles in servers",
    "openid": "Confirm who you are",
    "relationships.read": "See your friends while you use it",
    "rpc.activities.write": "Say in your status what you do in it",
    "rpc.voice.read": "See who is in the voice channel while you use it",
    "rpc.voice.write": "Change your voice settings while you use it",
    WEBHOOK: "Post messages to a channel that you choose",
    COMMANDS: "Offer its commands",
    UPDATE_COMMANDS: "Change its own commands",
    BOT: "Add a bot to a server that you choose",
}
"""Every scope that a user can consent to."""

_DANGEROUS: Final = frozenset(
    {
        "ADMINISTRATOR",
        "MANAGE_GUILD",
        "MANAGE_ROLES",
        "MANAGE_CHANNELS",
        "MANAGE_WEBHOOKS",
        "MANAGE_MESSAGES",
        "BAN_MEMBERS",
        "KICK_MEMBERS",
        "MENTION_EVERYONE",
    }
)

_PERMISSION_LABELS: Final = {
    "ADMINISTRATOR": "Administrator: do everything, in every channel",
    "MANAGE_GUILD": "Manage the server",
    "MANAGE_GUILD_EXPRESSIONS": "Manage emojis, stickers and sounds",
    "CREATE_GUILD_EXPRESSIONS": "Create emojis, stickers and sounds",
    "VIEW_GUILD_INSIGHTS": "View the server's insights",
    "CREATE_INSTANT_INVITE": "Create invites",
    "VIEW_CHANNEL": "See channels",
    "VIEW_AUDIT_LOG": "Read the audit log",
    "MENTION_EVERYONE": "Mention everyone and every role",
    "MODERATE_MEMBERS": "Time members out",
    "STREAM": "Share video and screens",
    "USE_VAD": "Speak without pushing a key",
    "SEND_TTS_MESSAGES": "Send messages that are read aloud",
    "CHANGE_NICKNAME": "Change its own nickname",
    "USE_EXTERNAL_APPS": "Use apps that people have installed for themselves",
}


def scope_label(scope: str) -> str:
    """What a scope allows an application, in words."""
    return SCOPE_LABELS.get(scope, scope)


def permission_label(name: str) -> str:
    """What a permission allows a bot, in words."""
    return _PERMISSION_LABELS.get(name) or name.replace("_", " ").capitalize().replace("guild", "server").replace(
        "dm", "DM"
    )


def permission_choices(bits: int) -> list[tuple[int, str, bool]]:
    """The bit of each permission of a set, its label, and whether it is dangerous."""
    return [(int(bit), permission_label(name), name in _DANGEROUS) for name, bit in BY_NAME.items() if bits & bit]


LINK_FIELDS: Final = {
    "client_id": "The app (client_id)",
    "scope": "What it wants to do (scope)",
    "permissions": "The permissions",
    "guild_id": "The server",
    "redirect_uri": "Where you would be sent afterwards (redirect_uri)",
    "response_type": "The kind of answer (response_type)",
    "code_challenge": "Its proof (code_challenge)",
    "code_challenge_method": "The kind of its proof (code_challenge_method)",
    "integration_type": "The installation type (integration_type)",
    "webhook_channel_id": "The channel",
}
"""The query parameters of an authorization link."""
