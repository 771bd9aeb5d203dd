"""Component types and their enumerations (api.md, Components; types 21 to 23 of the public reference)."""

from enum import Flag, IntEnum, auto
from typing import Final


class ComponentType(IntEnum):
    """The type of a component."""

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
    """The style of a button, which determines its required fields."""

    PRIMARY = 1
    SECONDARY = 2
    SUCCESS = 3
    DANGER = 4
    LINK = 5
    PREMIUM = 6


class TextInputStyle(IntEnum):
    """Whether a text input has one line or several."""

    SHORT = 1
    PARAGRAPH = 2


class SeparatorSpacing(IntEnum):
    """The height of a separator."""

    SMALL = 1
    LARGE = 2


class MediaLoadingState(IntEnum):
    """Whether the dimensions of a media item are known; those of external media never are."""

    UNKNOWN = 0
    LOADING = 1
    LOADED = 2
    NOT_FOUND = 3


class MediaFlags:
    """The bits of a media item's `flags`."""

    IS_ANIMATED: Final = 1 << 0


class ComponentPosition(Flag):
    """The positions in which a component can stand."""

    # Each position is one object; the hash of Enum would call Python code for every look-up.
    __hash__ = object.__hash__

    LEGACY = auto()
    """Top level of a message without IS_COMPONENTS_V2."""
    LAYOUT = auto()
    """Top level of a message with IS_COMPONENTS_V2."""
    MODAL = auto()
    """Top level of a modal."""
    ROW = auto()
    """In an action row of a message."""
    MODAL_ROW = auto()
    """In an action row of a modal."""
    SECTION = auto()
    ACCESSORY = auto()
    CONTAINER = auto()
    LABEL = auto()
