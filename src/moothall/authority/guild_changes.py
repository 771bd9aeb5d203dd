"""Which rows of a guild's state each of its versions changed, written beside the version.

`guilds.recent_changes` has a line for each of the last changes: the version before, the one after, the changed rows. A
process that has the state of one of these versions in memory reads only the rows changed since; another one loads the
whole state.
"""

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct


class GuildPart(StrEnum):
    """A part of a guild's state: one table, or one row of it."""

    SETTINGS = "g"
    """The guild's own row."""
    ROLE = "r"
    CHANNEL = "c"
    """A channel that is not a thread."""
    EMOJIS = "e"
    STICKERS = "s"
    SOUNDS = "n"
    RULES = "a"
    """The auto moderation rules."""


PARTS_BY_ROW = frozenset({GuildPart.ROLE, GuildPart.CHANNEL})
"""The parts that are read row by row; the others are read whole."""


class GuildChange(Struct, frozen=True):
    """A changed part of a guild's state."""

    part: GuildPart
    row_id: int = 0
    """The id of the role or channel; 0 for the other parts."""


MAX_TEXT = 1_000
"""Characters of `guilds.recent_changes`: the last sixteen changes of one row each."""
_EVERYTHING = "*"
_MAX_LISTED = 16
"""Rows of a change above which the state is loaded whole."""


def change_line(version: int, changes: Iterable[GuildChange]) -> str:
    """The line of a change to `version`, without its beginning: a line feed and the version before."""
    listed = sorted(f"{change.part}{change.row_id}" for change in changes)
    return " ".join(["", str(version), *(listed if len(listed) <= _MAX_LISTED else [_EVERYTHING])])


def changes_between(text: str, old_version: int, new_version: int) -> set[GuildChange] | None:
    """What has changed from a version to a later one; None if the text does not tell."""
    changes: set[GuildChange] = set()
    version = old_version
    # The oldest line may lack its beginning, so it is ignored.
    for line in text.split("\n")[1:]:
        before, after, *items = line.split(" ")
        if version == int(before) and version != new_version:
            if _EVERYTHING in items:
                return None
            version = int(after)
            changes.update(GuildChange(GuildPart(item[0]), int(item[1:])) for item in items)
    return changes if version == new_version else None
