"""Auto moderation rules: triggers, trigger metadata, actions (resources: auto moderation)."""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.ids import ChannelId, GuildId, RoleId, RuleId, UserId


class EventType(IntEnum):
    """What a rule is checked for."""

    MESSAGE_SEND = 1
    """A member sends or edits a message, or names a thread."""
    MEMBER_UPDATE = 2
    """A member joins, or changes their profile."""


class TriggerType(IntEnum):
    """The kind of content that triggers a rule."""

    KEYWORD = 1
    SPAM = 3
    KEYWORD_PRESET = 4
    MENTION_SPAM = 5
    MEMBER_PROFILE = 6


class KeywordPreset(IntEnum):
    """A word list of the server."""

    PROFANITY = 1
    SEXUAL_CONTENT = 2
    SLURS = 3


class ActionType(IntEnum):
    """What a rule does when it is triggered."""

    BLOCK_MESSAGE = 1
    SEND_ALERT_MESSAGE = 2
    TIMEOUT = 3
    BLOCK_MEMBER_INTERACTION = 4


_T, _A = TriggerType, ActionType

RULES_MAX: Final[Mapping[TriggerType, int]] = MappingProxyType(
    {_T.KEYWORD: 6, _T.SPAM: 1, _T.KEYWORD_PRESET: 1, _T.MENTION_SPAM: 1, _T.MEMBER_PROFILE: 1}
)
"""Maximum number of rules of a guild by trigger type."""

ACTIONS: Final[Mapping[TriggerType, tuple[ActionType, ...]]] = MappingProxyType(
    {
        _T.KEYWORD: (_A.BLOCK_MESSAGE, _A.SEND_ALERT_MESSAGE, _A.TIMEOUT),
        _T.SPAM: (_A.BLOCK_MESSAGE, _A.SEND_ALERT_MESSAGE),
        _T.KEYWORD_PRESET: (_A.BLOCK_MESSAGE, _A.SEND_ALERT_MESSAGE),
        _T.MENTION_SPAM: (_A.BLOCK_MESSAGE, _A.SEND_ALERT_MESSAGE, _A.TIMEOUT),
        _T.MEMBER_PROFILE: (_A.BLOCK_MEMBER_INTERACTION, _A.SEND_ALERT_MESSAGE),
    }
)
"""The actions that rules of a trigger type can have; the first is the default."""

MODERATES_MEMBERS: Final = frozenset({_A.TIMEOUT, _A.BLOCK_MEMBER_INTERACTION})
"""The actions that require MODERATE_MEMBERS of the caller who sets them."""

METADATA_FIELDS: Final[Mapping[TriggerType, tuple[str, ...]]] = MappingProxyType(
    {
        _T.KEYWORD: ("keyword_filter", "regex_patterns", "allow_list"),
        _T.SPAM: (),
        _T.KEYWORD_PRESET: ("presets", "allow_list"),
        _T.MENTION_SPAM: ("mention_total_limit", "mention_raid_protection_enabled"),
        _T.MEMBER_PROFILE: ("keyword_filter", "regex_patterns", "allow_list"),
    }
)
"""The fields that the trigger metadata of each trigger type has."""


def event_type_of(trigger_type: int) -> EventType:
    """The one event type of a trigger type."""
    return EventType.MEMBER_UPDATE if trigger_type == TriggerType.MEMBER_PROFILE else EventType.MESSAGE_SEND


class TriggerMetadata(Struct, frozen=True, kw_only=True):
    """What triggers a rule; the fields of other trigger types are absent."""

    keyword_filter: list[str] | UnsetType = UNSET
    regex_patterns: list[str] | UnsetType = UNSET
    presets: list[int] | UnsetType = UNSET
    allow_list: list[str] | UnsetType = UNSET
    mention_total_limit: int | UnsetType = UNSET
    """0 means no limit."""
    mention_raid_protection_enabled: bool | UnsetType = UNSET


class ActionMetadata(Struct, frozen=True, kw_only=True):
    """The parameters of an action; those of other action types are absent."""

    channel_id: ChannelId | UnsetType = UNSET
    duration_seconds: int | UnsetType = UNSET
    custom_message: str | UnsetType = UNSET


class Action(Struct, frozen=True, kw_only=True):
    """One action of a rule."""

    type: int
    metadata: ActionMetadata


class AutoModerationRule(Struct, frozen=True, kw_only=True):
    """An auto moderation rule of a guild."""

    id: RuleId
    guild_id: GuildId
    name: str
    creator_id: UserId
    event_type: int
    trigger_type: int
    trigger_metadata: TriggerMetadata
    actions: list[Action]
    enabled: bool
    exempt_roles: list[RoleId]
    exempt_channels: list[ChannelId]
