"""The content of the demo community as request bodies."""

from typing import Final

from moothall.objects.channel_types import ChannelType
from moothall.objects.json_object import JsonObject
from moothall.objects.permissions import Permissions

GUILD: Final = "Moothall Demo"
DESCRIPTION: Final = "A guild for trying things: change it, break it, delete it."

OWNER, MODERATOR, MEMBER = "alice", "bob", "carol"
USERS: Final = {OWNER: "Amber", MODERATOR: "Moderator", MEMBER: "Teal"}
"""The users, the owner first, and the role of each."""

BOT: Final = "Herald"
BOT_PERMISSIONS: Final = int(Permissions.ALL & ~Permissions.ADMINISTRATOR)
"""Every permission but ADMINISTRATOR, so that overwrites apply to the bot."""

WEBHOOK: Final = "Town Crier"

_MODERATOR_PERMISSIONS: Final = int(
    Permissions.KICK_MEMBERS
    | Permissions.BAN_MEMBERS
    | Permissions.MODERATE_MEMBERS
    | Permissions.MANAGE_MESSAGES
    | Permissions.MANAGE_NICKNAMES
    | Permissions.MANAGE_THREADS
    | Permissions.PIN_MESSAGES
    | Permissions.MUTE_MEMBERS
    | Permissions.MOVE_MEMBERS
    | Permissions.VIEW_AUDIT_LOG
)

# The categories, and the placeholder ids of the categories, @everyone and the moderators' role in the request.
INFORMATION, DISCUSSION, STAFF, VOICE_CATEGORY = "Information", "Talking", "Staff", "Speaking"
_NUMBERS: Final = {INFORMATION: 1, DISCUSSION: 2, STAFF: 3, VOICE_CATEGORY: 4}
_EVERYONE, _MODERATORS = 1, 2

RULES, NEWS, GENERAL, FORUM, STAFF_CHANNEL = "rules", "announcements", "general", "questions", "moderators"
_GENERAL_NUMBER: Final = 10


def _overwrites(category: str) -> list[JsonObject]:
    """Information is read-only; staff channels are visible to moderators only."""
    if category == INFORMATION:
        return [{"id": _EVERYONE, "type": 0, "deny": str(int(Permissions.SEND_MESSAGES))}]
    if category == STAFF:
        view = str(int(Permissions.VIEW_CHANNEL))
        return [{"id": _EVERYONE, "type": 0, "deny": view}, {"id": _MODERATORS, "type": 0, "allow": view}]
    return []


def _category(name: str) -> JsonObject:
    return {
        "id": _NUMBERS[name],
        "name": name,
        "type": int(ChannelType.GUILD_CATEGORY),
        "permission_overwrites": _overwrites(name),
    }


def _channel(category: str, name: str, topic: str | None = None, **more: object) -> JsonObject:
    return {
        "name": name,
        "type": int(ChannelType.GUILD_VOICE if topic is None else ChannelType.GUILD_TEXT),
        "topic": topic,
        "parent_id": _NUMBERS[category],
        "permission_overwrites": _overwrites(category),
        **more,
    }


NEW_GUILD: Final[JsonObject] = {
    "name": GUILD,
    "roles": [
        {"id": _EVERYONE, "permissions": str(int(Permissions.DEFAULT))},
        {"name": "Violet", "color": 0x8E5BD1, "permissions": "0"},
        {"name": "Teal", "color": 0x1F9E8F, "permissions": "0"},
        {"name": "Amber", "color": 0xE0A030, "permissions": "0"},
        {
            "id": _MODERATORS,
            "name": "Moderator",
            "color": 0x3D7BD9,
            "hoist": True,
            "mentionable": True,
            "permissions": str(_MODERATOR_PERMISSIONS),
        },
    ],
    "channels": [
        _category(INFORMATION),
        _channel(INFORMATION, RULES, "How we treat each other"),
        _category(DISCUSSION),
        _channel(DISCUSSION, GENERAL, "Talk of everything", id=_GENERAL_NUMBER),
        _channel(DISCUSSION, "bot-workshop", "Where bots are tried out"),
        _category(STAFF),
        _channel(STAFF, STAFF_CHANNEL, "For those who keep the peace"),
        _category(VOICE_CATEGORY),
        _channel(VOICE_CATEGORY, "Lobby"),
        _channel(VOICE_CATEGORY, "Workbench"),
    ],
    "system_channel_id": _GENERAL_NUMBER,
}
"""The guild with its roles, and its channels except those that need the feature COMMUNITY."""


def community(channels: JsonObject) -> JsonObject:
    """The body that adds the feature COMMUNITY; `channels` are the ids of the guild's channels by name."""
    return {
        "features": ["COMMUNITY"],
        "rules_channel_id": channels[RULES],
        "public_updates_channel_id": channels[STAFF_CHANNEL],
        "description": DESCRIPTION,
    }


def community_channels(channels: JsonObject) -> list[JsonObject]:
    """The bodies of channels that need the feature COMMUNITY; they inherit the overwrites of their category."""
    return [
        {
            "name": NEWS,
            "type": int(ChannelType.GUILD_ANNOUNCEMENT),
            "topic": "What is new",
            "parent_id": channels[INFORMATION],
        },
        {
            "name": FORUM,
            "type": int(ChannelType.GUILD_FORUM),
            "topic": "One post for each question",
            "parent_id": channels[DISCUSSION],
            "available_tags": [{"name": "open"}, {"name": "answered", "moderated": True}],
        },
    ]


MESSAGES: Final = (
    (OWNER, RULES, "1. Be kind.\n2. There is no second rule."),
    (OWNER, NEWS, "The hall is open."),
    (OWNER, GENERAL, f"Welcome! {DESCRIPTION}"),
    (MODERATOR, GENERAL, "Bots have a workshop of their own, and there is a forum for questions."),
    (MEMBER, GENERAL, "Then I have one already: who rings the bell?"),
)
"""Author, channel and content of each message, in this order. WEBHOOK_MESSAGE follows."""
WEBHOOK_MESSAGE: Final = "I do. It is twelve o'clock, and all is well."
