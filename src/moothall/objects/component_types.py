"""What components there are, and their enumerations (api.md, Components; public additions: 21 to 23)."""

from enum import Flag, IntEnum, auto
from typing import Final


class ComponentType(IntEnum):
    """What a component is."""

    ACTION_ROW = 1
    BUTTON = 2
    STRING_SELECT = 3
    TEXT_INPUT = 4
    USER_SELECT = 5
    ROLE_SELECT = 6
    MENTIONABLE_SELECT = 7
    CHANNEL_SELECT = 8
    SECTION = 9
    TEXT_DISPLAY = 10
    THUMBNAIL = 11
    MEDIA_GALLERY = 12
    FILE = 13
    SEPARATOR = 14
    CONTAINER = 17
    LABEL = 18
    FILE_UPLOAD = 19
    RADIO_GROUP = 21
    CHECKBOX_GROUP = 22
    CHECKBOX = 23


class ButtonStyle(IntEnum):
    """How a button looks, and so what it does."""

    PRIMARY = 1
    SECONDARY = 2
    SUCCESS = 3
    DANGER = 4
    LINK = 5
    PREMIUM = 6


class TextInputStyle(IntEnum):
    """How many lines a text input has."""

    SHORT = 1
    PARAGRAPH = 2


class SeparatorSpacing(IntEnum):
    """How high a separator is."""

    SMALL = 1
    LARGE = 2


class MediaLoadingState(IntEnum):
    """Whether a media item's measures are known. Foreign pages are not fetched, so theirs never are."""

    UNKNOWN = 0
    LOADING = 1
    LOADED = 2
    NOT_FOUND = 3


class MediaFlags:
    """The bits of a media item's `flags`."""

    IS_ANIMATED: Final = 1 << 0


class ComponentPlace(Flag):
    """Where a component stands."""

    LEGACY = auto()
    """At the top of a message without IS_COMPONENTS_V2."""
    LAYOUT = auto()
    """At the top of a message with it."""
    MODAL = auto()
    """At the top of a modal."""
    ROW = auto()
    """In an action row of a message."""
    MODAL_ROW = auto()
    """In an action row of a modal."""
    SECTION = auto()
    ACCESSORY = auto()
    CONTAINER = auto()
    LABEL = auto()
