"""Gateway intents: the events that a session subscribes to (events: gateway, list of intents)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final


class Intent:
    """Every public intent, as plain bits."""

    GUILDS: Final = 1 << 0
    GUILD_MEMBERS: Final = 1 << 1
    GUILD_MODERATION: Final = 1 << 2
    GUILD_EXPRESSIONS: Final = 1 << 3
    GUILD_INTEGRATIONS: Final = 1 << 4
    GUILD_WEBHOOKS: Final = 1 << 5
    GUILD_INVITES: Final = 1 << 6
    GUILD_VOICE_STATES: Final = 1 << 7
    GUILD_PRESENCES: Final = 1 << 8
    GUILD_MESSAGES: Final = 1 << 9
    GUILD_MESSAGE_REACTIONS: Final = 1 << 10
    GUILD_MESSAGE_TYPING: Final = 1 << 11
    DIRECT_MESSAGES: Final = 1 << 12
    DIRECT_MESSAGE_REACTIONS: Final = 1 << 13
    DIRECT_MESSAGE_TYPING: Final = 1 << 14
    MESSAGE_CONTENT: Final = 1 << 15
    GUILD_SCHEDULED_EVENTS: Final = 1 << 16
    GUILD_EMBEDDED_ACTIVITIES: Final = 1 << 17
    AUTO_MODERATION_CONFIGURATION: Final = 1 << 20
    AUTO_MODERATION_EXECUTION: Final = 1 << 21
    GUILD_MESSAGE_POLLS: Final = 1 << 24
    DIRECT_MESSAGE_POLLS: Final = 1 << 25


ALL: Final[int] = sum(bit for name, bit in vars(Intent).items() if name.isupper())
"""Every intent."""

RANGE: Final = (1 << ALL.bit_length()) - 1
"""The bits up to the last intent. Those without a meaning are ignored; a session that requests bits beyond it is closed
with 4013."""

PRIVILEGED: Final[int] = Intent.GUILD_MEMBERS | Intent.GUILD_PRESENCES | Intent.MESSAGE_CONTENT
"""The intents that a bot needs application flags for; a session without them is closed with 4014."""

EVENTS: Final[Mapping[int, frozenset[str]]] = MappingProxyType(
    {
        Intent.GUILDS: frozenset(
            {
                "GUILD_CREATE", "GUILD_UPDATE", "GUILD_DELETE", "GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE",
                "GUILD_ROLE_DELETE", "CHANNEL_CREATE", "CHANNEL_UPDATE", "CHANNEL_DELETE", "CHANNEL_PINS_UPDATE",
                "THREAD_CREATE", "THREAD_UPDATE", "THREAD_DELETE", "THREAD_LIST_SYNC", "THREAD_MEMBER_UPDATE",
                "THREAD_MEMBERS_UPDATE", "STAGE_INSTANCE_CREATE", "STAGE_INSTANCE_UPDATE", "STAGE_INSTANCE_DELETE",
                "VOICE_CHANNEL_STATUS_UPDATE", "VOICE_CHANNEL_START_TIME_UPDATE",
            }
        ),
        Intent.GUILD_MEMBERS: frozenset(
            {"GUILD_MEMBER_ADD", "GUILD_MEMBER_UPDATE", "GUILD_MEMBER_REMOVE", "THREAD_MEMBERS_UPDATE"}
        ),
        Intent.GUILD_MODERATION: frozenset({"GUILD_AUDIT_LOG_ENTRY_CREATE", "GUILD_BAN_ADD", "GUILD_BAN_REMOVE"}),
        Intent.GUILD_EXPRESSIONS: frozenset(
            {
                "GUILD_EMOJIS_UPDATE", "GUILD_STICKERS_UPDATE", "GUILD_SOUNDBOARD_SOUND_CREATE",
                "GUILD_SOUNDBOARD_SOUND_UPDATE", "GUILD_SOUNDBOARD_SOUND_DELETE", "GUILD_SOUNDBOARD_SOUNDS_UPDATE",
            }
        ),
        Intent.GUILD_INTEGRATIONS: frozenset(
            {"GUILD_INTEGRATIONS_UPDATE", "INTEGRATION_CREATE", "INTEGRATION_UPDATE", "INTEGRATION_DELETE"}
        ),
        Intent.GUILD_WEBHOOKS: frozenset({"WEBHOOKS_UPDATE"}),
        Intent.GUILD_INVITES: frozenset({"INVITE_CREATE", "INVITE_DELETE"}),
        Intent.GUILD_VOICE_STATES: frozenset({"VOICE_CHANNEL_EFFECT_SEND", "VOICE_STATE_UPDATE"}),
        Intent.GUILD_PRESENCES: frozenset({"PRESENCE_UPDATE"}),
        Intent.GUILD_MESSAGES: frozenset(
            {"MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "MESSAGE_DELETE_BULK"}
        ),
        Intent.GUILD_MESSAGE_REACTIONS: frozenset(
            {
                "MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE", "MESSAGE_REACTION_REMOVE_ALL",
                "MESSAGE_REACTION_REMOVE_EMOJI",
            }
        ),
        Intent.GUILD_MESSAGE_TYPING: frozenset({"TYPING_START"}),
        Intent.DIRECT_MESSAGES: frozenset(
            {
                "MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "CHANNEL_PINS_UPDATE",
                "EMBEDDED_ACTIVITY_UPDATE", "EMBEDDED_ACTIVITY_UPDATE_V2",
            }
        ),
        Intent.DIRECT_MESSAGE_REACTIONS: frozenset(
            {
                "MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE", "MESSAGE_REACTION_REMOVE_ALL",
                "MESSAGE_REACTION_REMOVE_EMOJI",
            }
        ),
        Intent.DIRECT_MESSAGE_TYPING: frozenset({"TYPING_START"}),
        # MESSAGE_CONTENT adds no events: it determines whether the content fields of messages are filled.
        Intent.MESSAGE_CONTENT: frozenset(),
        Intent.GUILD_SCHEDULED_EVENTS: frozenset(
            {
                "GUILD_SCHEDULED_EVENT_CREATE", "GUILD_SCHEDULED_EVENT_UPDATE", "GUILD_SCHEDULED_EVENT_DELETE",
                "GUILD_SCHEDULED_EVENT_USER_ADD", "GUILD_SCHEDULED_EVENT_USER_REMOVE",
                "GUILD_SCHEDULED_EVENT_EXCEPTION_CREATE", "GUILD_SCHEDULED_EVENT_EXCEPTION_DELETE",
                "GUILD_SCHEDULED_EVENT_EXCEPTIONS_DELETE",
            }
        ),
        Intent.GUILD_EMBEDDED_ACTIVITIES: frozenset({"EMBEDDED_ACTIVITY_UPDATE", "EMBEDDED_ACTIVITY_UPDATE_V2"}),
        Intent.AUTO_MODERATION_CONFIGURATION: frozenset(
            {"AUTO_MODERATION_RULE_CREATE", "AUTO_MODERATION_RULE_UPDATE", "AUTO_MODERATION_RULE_DELETE"}
        ),
        Intent.AUTO_MODERATION_EXECUTION: frozenset({"AUTO_MODERATION_ACTION_EXECUTION"}),
        Intent.GUILD_MESSAGE_POLLS: frozenset({"MESSAGE_POLL_VOTE_ADD", "MESSAGE_POLL_VOTE_REMOVE"}),
        Intent.DIRECT_MESSAGE_POLLS: frozenset({"MESSAGE_POLL_VOTE_ADD", "MESSAGE_POLL_VOTE_REMOVE"}),
    }
)  # fmt: skip
"""The dispatches of each intent. A dispatch without an intent is sent to every session."""


def intents_for_dispatch(name: str, *, direct: bool = False) -> int:
    """The intents of which a session needs any one to receive the dispatch `name`; 0 if it needs none.

    With `direct` those for a direct message channel, otherwise those for a guild.
    """
    intents = 0
    for bit, names in EVENTS.items():
        if name in names and direct == bool(bit & _DIRECT):
            intents |= bit
    return intents


_DIRECT = (
    Intent.DIRECT_MESSAGES
    | Intent.DIRECT_MESSAGE_REACTIONS
    | Intent.DIRECT_MESSAGE_TYPING
    | Intent.DIRECT_MESSAGE_POLLS
)
