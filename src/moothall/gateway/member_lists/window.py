"""One member list: its rows in order, and the changes between two states of a window of it.

The rows are the headings of the groups that have members, each followed by its members. A list is a sorted Python list
of keys: inserting one moves pointers, which for 100,000 members takes some ten microseconds.
"""

from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from moothall.objects.ids import UserId

MAX_CHANGES: Final = 50
"""With more changes than this, all rows of a window are sent instead."""

Key = tuple[int, str, UserId]
"""The position of a member: the rank of the group, the name by which the group is sorted, and the user."""


class Row(NamedTuple):
    """A row: a group's id or a user's, and a version that differs once the shown member has changed."""

    id: str | UserId
    version: int


class Change(NamedTuple):
    """A change of one row: DELETE, INSERT or UPDATE, with its index in the list at that moment."""

    kind: str
    position: int
    row: Row


class MemberList:
    """The members who may view some channels, by group. `group_ids` are the groups from the top."""

    def __init__(self, list_id: str, group_ids: Sequence[str]) -> None:
        self.id = list_id
        self._group_ids = tuple(group_ids)
        self._keys: list[Key] = []
        self._counts = [0] * len(self._group_ids)

    def insert(self, key: Key) -> None:
        """Add a member."""
        insort(self._keys, key)
        self._counts[key[0]] += 1

    def remove(self, key: Key) -> None:
        """Remove a member; does nothing for one who is not in the list."""
        index = bisect_left(self._keys, key)
        if index < len(self._keys) and self._keys[index] == key:
            del self._keys[index]
            self._counts[key[0]] -= 1

    def groups(self) -> list[tuple[str, int]]:
        """The groups that have members, from the top, each with its number of members."""
        return [(group_id, count) for group_id, count in zip(self._group_ids, self._counts, strict=True) if count]

    def rows(self, first: int, last: int, versions: Mapping[UserId, int]) -> list[Row]:
        """The rows from `first` to `last`, as far as there are any. `versions` are those of the members."""
        rows: list[Row] = []
        heading = start = 0
        for group_id, count in zip(self._group_ids, self._counts, strict=True):
            if heading > last:
                break
            if not count:
                continue
            if heading >= first:
                rows.append(Row(group_id, 0))
            low, high = max(first - heading - 1, 0), min(last - heading, count)
            rows += [Row(key[2], versions[key[2]]) for key in self._keys[start + low : start + max(low, high)]]
            heading += 1 + count
            start += count
        return rows


def window_changes(old: Sequence[Row], new: Sequence[Row], first: int, last: int) -> list[Change] | None:
    """The changes that make the rows `new` of those of a window, `old`; None if the window has to be sent whole.

    Applied in order, they leave the rows behind a full window where they are: it is full before and after.
    """
    if old == new:
        return []
    size = last - first + 1
    if not old or not new or (len(old) == size) != (len(new) == size):
        return None
    old_versions, new_versions = dict(old), dict(new)
    moved: set[str | UserId] = set()
    common_old = [row for row in old if row.id in new_versions]
    common_new = [row for row in new if row.id in old_versions]
    if [row.id for row in common_old] != [row.id for row in common_new]:
        # Only members who have changed can have moved.
        moved = {row.id for row in common_new if old_versions[row.id] != row.version}
        if [row.id for row in common_old if row.id not in moved] != [
            row.id for row in common_new if row.id not in moved
        ]:
            return None
    deleted = [index for index, row in enumerate(old) if row.id not in new_versions or row.id in moved]
    changes = [Change("DELETE", first + index, old[index]) for index in reversed(deleted)]
    updates: list[Change] = []
    for index, row in enumerate(new, first):
        if row.id not in old_versions or row.id in moved:
            changes.append(Change("INSERT", index, row))
        elif old_versions[row.id] != row.version:
            updates.append(Change("UPDATE", index, row))
    changes += updates
    return changes if len(changes) <= MAX_CHANGES else None
