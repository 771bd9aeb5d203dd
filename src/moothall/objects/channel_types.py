"""Channel types, and which fields mean something for which (api.md, Create Guild Channel)."""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Final


class ChannelType(IntEnum):
    """What a channel is."""

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
    """Whom a permission overwrite is about."""

    ROLE = 0
    MEMBER = 1


class VideoQualityMode(IntEnum):
    """The camera quality of a voice channel."""

    AUTO = 1
    FULL = 2


class SortOrder(IntEnum):
    """How a forum lists its posts."""

    LATEST_ACTIVITY = 0
    CREATION_DATE = 1


class ForumLayout(IntEnum):
    """How a forum shows its posts."""

    NOT_SET = 0
    LIST_VIEW = 1
    GALLERY_VIEW = 2


class ChannelFlags:
    """The bits of a channel's `flags`."""

    PINNED: Final = 1 << 1
    """A thread pinned to the top of its forum."""
    REQUIRE_TAG: Final = 1 << 4
    HIDE_MEDIA_DOWNLOAD_OPTIONS: Final = 1 << 15
    IS_SPOILER_CHANNEL: Final = 1 << 21


_T = ChannelType

DIRECT: Final = frozenset({_T.DM, _T.GROUP_DM})
THREADS: Final = frozenset({_T.ANNOUNCEMENT_THREAD, _T.PUBLIC_THREAD, _T.PRIVATE_THREAD})
VOICE: Final = frozenset({_T.GUILD_VOICE, _T.GUILD_STAGE_VOICE})
FORUMS: Final = frozenset({_T.GUILD_FORUM, _T.GUILD_MEDIA})
TEXT_LIKE: Final = frozenset({_T.GUILD_TEXT, _T.GUILD_ANNOUNCEMENT, _T.GUILD_FORUM, _T.GUILD_MEDIA})
"""Those whose names are written in lower case with dashes."""
CREATABLE: Final = TEXT_LIKE | VOICE | {_T.GUILD_CATEGORY}
"""Those that Create Guild Channel makes."""
NEEDS_COMMUNITY: Final = FORUMS | {_T.GUILD_ANNOUNCEMENT, _T.GUILD_STAGE_VOICE}
MESSAGEABLE: Final = DIRECT | THREADS | VOICE | {_T.GUILD_TEXT, _T.GUILD_ANNOUNCEMENT}
"""Those that messages can be sent to."""
HAS_THREADS: Final = TEXT_LIKE
"""Those that threads can be in."""
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
"""The types for which each settable field means something; for others it is ignored and not sent."""


def applies(field: str, kind: int) -> bool:
    """Whether a settable field means something for channels of a type."""
    return kind in APPLIES_TO[field]
