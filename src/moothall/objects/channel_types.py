"""Channel types, the sets of them, and the fields of each (api.md, Create Guild Channel)."""

from collections.abc import Iterable, Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Final


class ChannelType(IntEnum):
    """The `type` of a channel."""

    GUILD_TEXT = 0
    DM = 1
    GUILD_VOICE = 2
    GROUP_DM = 3
    GUILD_CATEGORY = 4
    GUILD_ANNOUNCEMENT = 5
    ANNOUNCEMENT_THREAD = 10
    PUBLIC_THREAD = 11
    PRIVATE_THREAD = 12
    GUILD_STAGE_VOICE = 13
    GUILD_DIRECTORY = 14
    GUILD_FORUM = 15
    GUILD_MEDIA = 16


class OverwriteType(IntEnum):
    """The kind of target of a permission overwrite."""

    ROLE = 0
    MEMBER = 1


class VideoQualityMode(IntEnum):
    """The camera quality of a voice channel."""

    AUTO = 1
    FULL = 2


class SortOrder(IntEnum):
    """The default order of a forum's posts."""

    LATEST_ACTIVITY = 0
    CREATION_DATE = 1


class ForumLayout(IntEnum):
    """The default layout of a forum."""

    NOT_SET = 0
    LIST_VIEW = 1
    GALLERY_VIEW = 2


class ChannelFlags:
    """The bits of a channel's `flags`."""

    PINNED: Final = 1 << 1
    """The thread is pinned to the top of its forum."""
    REQUIRE_TAG: Final = 1 << 4
    HIDE_MEDIA_DOWNLOAD_OPTIONS: Final = 1 << 15
    IS_SPOILER_CHANNEL: Final = 1 << 21


_T = ChannelType

DIRECT: Final = frozenset({_T.DM, _T.GROUP_DM})
THREADS: Final = frozenset({_T.ANNOUNCEMENT_THREAD, _T.PUBLIC_THREAD, _T.PRIVATE_THREAD})
NOT_THREADS: Final = frozenset(_T) - THREADS
"""Those with overwrites of their own, and direct messages."""
TEXT: Final = frozenset({_T.GUILD_TEXT, _T.GUILD_ANNOUNCEMENT})
"""Those with messages of their own, which threads can be started from and which can follow another channel."""
VOICE: Final = frozenset({_T.GUILD_VOICE, _T.GUILD_STAGE_VOICE})
FORUMS: Final = frozenset({_T.GUILD_FORUM, _T.GUILD_MEDIA})
TEXT_LIKE: Final = TEXT | FORUMS
"""Those whose names are lower case with dashes."""
CREATABLE: Final = TEXT_LIKE | VOICE | {_T.GUILD_CATEGORY}
"""Those that Create Guild Channel creates."""
NEEDS_COMMUNITY: Final = FORUMS | {_T.GUILD_ANNOUNCEMENT, _T.GUILD_STAGE_VOICE}
MESSAGEABLE: Final = DIRECT | THREADS | VOICE | TEXT
"""Those that messages can be sent to."""
HAS_THREADS: Final = TEXT_LIKE
"""Those that can be the parent of a thread."""
HAS_WEBHOOKS: Final = TEXT_LIKE | VOICE
"""Those that webhooks can post into."""
INVITABLE: Final = TEXT_LIKE | VOICE
"""Those that an invite can lead to."""

_ANY: Final = frozenset(CREATABLE)

APPLIES_TO: Final[Mapping[str, frozenset[ChannelType]]] = MappingProxyType(
    {
        "name": _ANY,
        "position": _ANY,
        "permission_overwrites": _ANY,
        "parent_id": _ANY - {_T.GUILD_CATEGORY},
        "topic": TEXT_LIKE,
        "nsfw": _ANY - {_T.GUILD_CATEGORY, _T.GUILD_MEDIA},
        "rate_limit_per_user": FORUMS | VOICE | {_T.GUILD_TEXT},
        "bitrate": VOICE,
        "user_limit": VOICE,
        "rtc_region": VOICE,
        "video_quality_mode": VOICE,
        "default_auto_archive_duration": TEXT_LIKE,
        "default_thread_rate_limit_per_user": TEXT_LIKE,
        "default_reaction_emoji": FORUMS,
        "available_tags": FORUMS,
        "default_sort_order": FORUMS,
        "default_forum_layout": frozenset({_T.GUILD_FORUM}),
    }
)
"""The types that have each settable field; for other types the field is ignored and not sent."""


def applies(field: str, kind: int) -> bool:
    """Whether channels of a type have a settable field."""
    return kind in APPLIES_TO[field]


def type_numbers(types: Iterable[ChannelType]) -> tuple[int, ...]:
    """The numbers of channel types in ascending order, for an SQL `IN`."""
    return tuple(sorted(map(int, types)))
