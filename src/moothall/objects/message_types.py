"""Message types and flags (resources: message)."""

from enum import IntEnum
from typing import Final


class MessageType(IntEnum):
    """The type of a message."""

    DEFAULT = 0
    RECIPIENT_ADD = 1
    RECIPIENT_REMOVE = 2
    CALL = 3
    CHANNEL_NAME_CHANGE = 4
    CHANNEL_ICON_CHANGE = 5
    CHANNEL_PINNED_MESSAGE = 6
    USER_JOIN = 7
    GUILD_BOOST = 8
    GUILD_BOOST_TIER_1 = 9
    GUILD_BOOST_TIER_2 = 10
    GUILD_BOOST_TIER_3 = 11
    CHANNEL_FOLLOW_ADD = 12
    GUILD_DISCOVERY_DISQUALIFIED = 14
    GUILD_DISCOVERY_REQUALIFIED = 15
    GUILD_DISCOVERY_GRACE_PERIOD_INITIAL_WARNING = 16
    GUILD_DISCOVERY_GRACE_PERIOD_FINAL_WARNING = 17
    THREAD_CREATED = 18
    REPLY = 19
    CHAT_INPUT_COMMAND = 20
    THREAD_STARTER_MESSAGE = 21
    GUILD_INVITE_REMINDER = 22
    CONTEXT_MENU_COMMAND = 23
    AUTO_MODERATION_ACTION = 24
    ROLE_SUBSCRIPTION_PURCHASE = 25
    INTERACTION_PREMIUM_UPSELL = 26
    STAGE_START = 27
    STAGE_END = 28
    STAGE_SPEAKER = 29
    STAGE_TOPIC = 31
    GUILD_APPLICATION_PREMIUM_SUBSCRIPTION = 32
    GUILD_INCIDENT_ALERT_MODE_ENABLED = 36
    GUILD_INCIDENT_ALERT_MODE_DISABLED = 37
    GUILD_INCIDENT_REPORT_RAID = 38
    GUILD_INCIDENT_REPORT_FALSE_ALARM = 39
    PURCHASE_NOTIFICATION = 44
    POLL_RESULT = 46


WRITTEN: Final = frozenset(
    {MessageType.DEFAULT, MessageType.REPLY, MessageType.CHAT_INPUT_COMMAND, MessageType.CONTEXT_MENU_COMMAND}
)
"""The types of messages written by users; all others are system messages and cannot be edited."""

UNDELETABLE: Final = frozenset(
    {
        MessageType.RECIPIENT_ADD,
        MessageType.RECIPIENT_REMOVE,
        MessageType.CALL,
        MessageType.CHANNEL_NAME_CHANGE,
        MessageType.CHANNEL_ICON_CHANGE,
        MessageType.THREAD_STARTER_MESSAGE,
    }
)
"""The types of messages that cannot be deleted."""


class MessageReferenceType(IntEnum):
    """The type of a message reference."""

    DEFAULT = 0
    """A reply."""
    FORWARD = 1


class MessageFlags:
    """The bits of a message's `flags`."""

    CROSSPOSTED: Final = 1 << 0
    IS_CROSSPOST: Final = 1 << 1
    SUPPRESS_EMBEDS: Final = 1 << 2
    SOURCE_MESSAGE_DELETED: Final = 1 << 3
    URGENT: Final = 1 << 4
    HAS_THREAD: Final = 1 << 5
    EPHEMERAL: Final = 1 << 6
    LOADING: Final = 1 << 7
    FAILED_TO_MENTION_SOME_ROLES_IN_THREAD: Final = 1 << 8
    SUPPRESS_NOTIFICATIONS: Final = 1 << 12
    IS_VOICE_MESSAGE: Final = 1 << 13
    HAS_SNAPSHOT: Final = 1 << 14
    IS_COMPONENTS_V2: Final = 1 << 15


SETTABLE: Final[int] = (
    MessageFlags.SUPPRESS_EMBEDS | MessageFlags.SUPPRESS_NOTIFICATIONS | MessageFlags.IS_COMPONENTS_V2
)
"""The flags that a request may set when it creates a message; other bits are dropped silently."""


EDITABLE: Final[int] = MessageFlags.SUPPRESS_EMBEDS | MessageFlags.IS_COMPONENTS_V2
"""The flags that an edit may set; only SUPPRESS_EMBEDS may be unset."""


class MessagePart(IntEnum):
    """Parts of a stored message that are loaded or recomputed whenever it is returned."""

    FILES = 1
    """The body has URLs of this server's files, which expire."""
    POLL = 2
    THREAD = 4
    """A thread was started from the message."""
    STARTER = 8
    """The message is the starter message of a thread, which refers to the message that the thread was started from."""
    AVATAR = 16
    """The message of a webhook has an avatar of its own, which is a picture of another server."""
    CALL = 32
    """The message tells of a call, whose participants and end change."""


class AttachmentFlags:
    """The bits of an attachment's `flags`."""

    IS_CLIP: Final = 1 << 0
    IS_THUMBNAIL: Final = 1 << 1
    IS_REMIX: Final = 1 << 2
    IS_SPOILER: Final = 1 << 3
    IS_ANIMATED: Final = 1 << 5
