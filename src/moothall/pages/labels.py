"""Labels for people of scopes, permissions, roles in teams and the parameters of an authorization link.

The tables have them in English. The functions return them in the language of `gettext`.
"""

from collections.abc import Callable
from typing import Final

from moothall.objects.application import TeamRole
from moothall.objects.permissions import BY_NAME
from moothall.objects.scopes import BOT, COMMANDS, ENTITLEMENTS, PREMIUM, ROLE_CONNECTIONS, UPDATE_COMMANDS, WEBHOOK
from moothall.pages.translations import translatable

Gettext = Callable[[str], str]
"""Translates a text."""

SCOPE_LABELS: Final = {
    "identify": translatable("See your username, name, picture and banner"),
    PREMIUM: translatable("See which subscription you have"),
    "email": translatable("See your email address"),
    "connections": translatable("See the accounts elsewhere that you have connected"),
    "guilds": translatable("See which servers you are in"),
    "guilds.join": translatable("Join servers for you"),
    "guilds.members.read": translatable("See your nickname, picture and roles in your servers"),
    "gdm.join": translatable("Join group chats for you"),
    "applications.commands.permissions.update": translatable(
        "Change who may use its commands in servers that you manage"
    ),
    ENTITLEMENTS: translatable("See what you have of its offers"),
    ROLE_CONNECTIONS: translatable("Say what you are there, by which you can claim roles in servers"),
    "openid": translatable("Confirm who you are"),
    "relationships.read": translatable("See your friends while you use it"),
    "rpc.activities.write": translatable("Say in your status what you do in it"),
    "rpc.voice.read": translatable("See who is in the voice channel while you use it"),
    "rpc.voice.write": translatable("Change your voice settings while you use it"),
    WEBHOOK: translatable("Post messages to a channel that you choose"),
    COMMANDS: translatable("Offer its commands"),
    UPDATE_COMMANDS: translatable("Change its own commands"),
    BOT: translatable("Add a bot to a server that you choose"),
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
    "CREATE_INSTANT_INVITE": translatable("Create invites"),
    "KICK_MEMBERS": translatable("Kick members"),
    "BAN_MEMBERS": translatable("Ban members"),
    "ADMINISTRATOR": translatable("Administrator: do everything, in every channel"),
    "MANAGE_CHANNELS": translatable("Manage channels"),
    "MANAGE_GUILD": translatable("Manage the server"),
    "ADD_REACTIONS": translatable("Add reactions"),
    "VIEW_AUDIT_LOG": translatable("Read the audit log"),
    "PRIORITY_SPEAKER": translatable("Priority speaker"),
    "STREAM": translatable("Share video and screens"),
    "VIEW_CHANNEL": translatable("See channels"),
    "SEND_MESSAGES": translatable("Send messages"),
    "SEND_TTS_MESSAGES": translatable("Send messages that are read aloud"),
    "MANAGE_MESSAGES": translatable("Manage messages"),
    "EMBED_LINKS": translatable("Embed links"),
    "ATTACH_FILES": translatable("Attach files"),
    "READ_MESSAGE_HISTORY": translatable("Read message history"),
    "MENTION_EVERYONE": translatable("Mention everyone and every role"),
    "USE_EXTERNAL_EMOJIS": translatable("Use external emojis"),
    "VIEW_GUILD_INSIGHTS": translatable("View the server's insights"),
    "CONNECT": translatable("Connect"),
    "SPEAK": translatable("Speak"),
    "MUTE_MEMBERS": translatable("Mute members"),
    "DEAFEN_MEMBERS": translatable("Deafen members"),
    "MOVE_MEMBERS": translatable("Move members"),
    "USE_VAD": translatable("Speak without pushing a key"),
    "CHANGE_NICKNAME": translatable("Change its own nickname"),
    "MANAGE_NICKNAMES": translatable("Manage nicknames"),
    "MANAGE_ROLES": translatable("Manage roles"),
    "MANAGE_WEBHOOKS": translatable("Manage webhooks"),
    "MANAGE_GUILD_EXPRESSIONS": translatable("Manage emojis, stickers and sounds"),
    "USE_APPLICATION_COMMANDS": translatable("Use application commands"),
    "REQUEST_TO_SPEAK": translatable("Request to speak"),
    "MANAGE_EVENTS": translatable("Manage events"),
    "MANAGE_THREADS": translatable("Manage threads"),
    "CREATE_PUBLIC_THREADS": translatable("Create public threads"),
    "CREATE_PRIVATE_THREADS": translatable("Create private threads"),
    "USE_EXTERNAL_STICKERS": translatable("Use external stickers"),
    "SEND_MESSAGES_IN_THREADS": translatable("Send messages in threads"),
    "USE_EMBEDDED_ACTIVITIES": translatable("Use embedded activities"),
    "MODERATE_MEMBERS": translatable("Time members out"),
    "VIEW_CREATOR_MONETIZATION_ANALYTICS": translatable("View creator monetization analytics"),
    "USE_SOUNDBOARD": translatable("Use soundboard"),
    "CREATE_GUILD_EXPRESSIONS": translatable("Create emojis, stickers and sounds"),
    "CREATE_EVENTS": translatable("Create events"),
    "USE_EXTERNAL_SOUNDS": translatable("Use external sounds"),
    "SEND_VOICE_MESSAGES": translatable("Send voice messages"),
    "SET_VOICE_CHANNEL_STATUS": translatable("Set voice channel status"),
    "SEND_POLLS": translatable("Send polls"),
    "USE_EXTERNAL_APPS": translatable("Use apps that people have installed for themselves"),
    "PIN_MESSAGES": translatable("Pin messages"),
    "BYPASS_SLOWMODE": translatable("Bypass slowmode"),
}


TEAM_ROLE_LABELS: Final = {
    "owner": translatable("owner"),
    TeamRole.ADMIN.value: translatable("admin"),
    TeamRole.DEVELOPER.value: translatable("developer"),
    TeamRole.READ_ONLY.value: translatable("read only"),
}
"""The roles of a team's members, and its owner."""


def scope_label(scope: str, gettext: Gettext) -> str:
    """What a scope allows an application, in words."""
    return gettext(SCOPE_LABELS[scope]) if scope in SCOPE_LABELS else scope


def permission_choices(bits: int, gettext: Gettext) -> list[tuple[int, str, bool]]:
    """The bit of each permission of a set, its label, and whether it is dangerous."""
    return [
        (int(bit), gettext(_PERMISSION_LABELS[name]), name in _DANGEROUS) for name, bit in BY_NAME.items() if bits & bit
    ]


LINK_FIELDS: Final = {
    "client_id": translatable("The app (client_id)"),
    "scope": translatable("What it wants to do (scope)"),
    "permissions": translatable("The permissions"),
    "guild_id": translatable("The server"),
    "redirect_uri": translatable("Where you would be sent afterwards (redirect_uri)"),
    "response_type": translatable("The kind of answer (response_type)"),
    "code_challenge": translatable("Its proof (code_challenge)"),
    "code_challenge_method": translatable("The kind of its proof (code_challenge_method)"),
    "integration_type": translatable("The installation type (integration_type)"),
    "webhook_channel_id": translatable("The channel"),
}
"""The query parameters of an authorization link."""


def link_field_label(name: str, gettext: Gettext) -> str:
    """What a query parameter of an authorization link says, in words."""
    return gettext(LINK_FIELDS[name]) if name in LINK_FIELDS else name
