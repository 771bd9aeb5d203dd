"""The rows of member lists, their windows, and the ids of lists."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moothall.gateway.audience.guild_view import ChannelView, GuildView
from moothall.gateway.member_lists.list_ids import member_list_id, murmur3_32
from moothall.gateway.member_lists.window import Key, MemberList, Row, window_changes
from moothall.gateway.sessions.subscriptions import MAX_CHANNELS, MAX_RANGES, read_subscription
from moothall.objects.ids import GuildId, RoleId, Snowflake, UserId
from moothall.objects.permissions import Permissions

VIEW = int(Permissions.VIEW_CHANNEL)
GROUPS = ["7", "online", "offline"]


def user(number: int) -> UserId:
    return UserId(Snowflake(number))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"", 0),
        (b"hello", 0x248BFA47),
        (b"hello, world", 0x149BBB7F),
        (b"The quick brown fox jumps over the lazy dog", 0x2E4FF723),
    ],
)
def test_the_hash_is_that_of_clients(text: bytes, value: int) -> None:
    assert murmur3_32(text) == value


def test_channels_with_the_same_viewers_share_a_list() -> None:
    view = GuildView(GuildId(Snowflake(1)), roles={RoleId(Snowflake(1)): VIEW})
    assert member_list_id(view, ChannelView(0, {})) == "everyone"
    assert member_list_id(view, ChannelView(0, {7: (VIEW, 0)})) == "everyone"
    denied, other = ChannelView(0, {1: (0, VIEW), 7: (VIEW, 0)}), ChannelView(0, {7: (VIEW | 2, 4), 1: (0, VIEW | 8)})
    assert member_list_id(view, denied) == member_list_id(view, other) == str(murmur3_32(b"allow:7,deny:1"))
    view.roles[RoleId(Snowflake(1))] = 0
    assert member_list_id(view, ChannelView(0, {})) == "0"


def all_rows(members: MemberList, versions: dict[UserId, int]) -> list[Row]:
    return members.rows(0, 10_000, versions)


def test_headings_of_groups_with_members_are_rows() -> None:
    members, versions = MemberList("everyone", GROUPS), {user(n): n for n in range(5)}
    for key in ((1, "b", user(1)), (1, "a", user(2)), (2, "z", user(3))):
        members.insert(key)
    assert members.groups() == [("online", 2), ("offline", 1)]
    assert [row.id for row in all_rows(members, versions)] == ["online", 2, 1, "offline", 3]
    assert [row.id for row in members.rows(1, 3, versions)] == [2, 1, "offline"]
    assert [row.id for row in members.rows(4, 9, versions)] == [3]
    assert members.rows(5, 9, versions) == []
    members.remove((2, "z", user(3)))
    members.remove((2, "z", user(3)))
    assert members.groups() == [("online", 2)]


def apply(rows: list[Any], changes: list[Any]) -> list[Any]:
    """A client's sparse list after changes."""
    rows = list(rows)
    for change in changes:
        if change.kind == "DELETE":
            del rows[change.position]
        elif change.kind == "INSERT":
            rows.insert(change.position, change.row)
        else:
            assert rows[change.position].id == change.row.id
            rows[change.position] = change.row
    return rows


MEMBERS = st.dictionaries(st.integers(1, 30), st.tuples(st.integers(0, 2), st.sampled_from("abcd")), max_size=25)


@given(MEMBERS, MEMBERS, st.integers(0, 20), st.integers(0, 12))
def test_changes_turn_a_window_into_the_new_one_and_leave_the_rows_behind_it_in_place(
    before: dict[int, tuple[int, str]], after: dict[int, tuple[int, str]], first: int, size: int
) -> None:
    last = first + size
    lists: list[tuple[list[Row], list[Row]]] = []
    for number, state in enumerate((before, after)):
        members = MemberList("everyone", GROUPS)
        versions: dict[UserId, int] = {}
        for each, (group, name) in state.items():
            key: Key = (group, name, user(each))
            members.insert(key)
            versions[user(each)] = 0 if before.get(each) == after.get(each) else number
        lists.append((all_rows(members, versions), members.rows(first, last, versions)))
    (all_before, old), (all_after, new) = lists
    assert old == all_before[first : last + 1]
    assert new == all_after[first : last + 1]
    changes = window_changes(old, new, first, last)
    if changes is None:
        return
    rows = apply(all_before, changes)
    assert rows[first : last + 1] == new
    assert rows[:first] == all_before[:first]
    if len(old) == size + 1:
        assert rows[last + 1 :] == all_before[last + 1 :]


def test_one_member_is_one_or_two_changes() -> None:
    old = [Row("online", 0), *(Row(user(n), n) for n in range(1, 100))]
    changed = [*old[:50], Row(user(50), 1000), *old[51:]]
    assert [tuple(each)[:2] for each in window_changes(old, changed, 0, 99) or []] == [("UPDATE", 50)]
    left = [*old[:50], *old[51:], Row(user(100), 100)]
    assert [tuple(each)[:2] for each in window_changes(old, left, 0, 99) or []] == [("DELETE", 50), ("INSERT", 99)]


def test_a_subscription_is_cut_to_the_limits() -> None:
    ranges = [[0, 99], [0, 99], [100, 100_000], [-1, 5], [9, 3], [1], [1, 2, 3], *([n, n] for n in range(10))]
    subscription = read_subscription({str(n): ranges for n in range(10)} | {"x": [[0, 1]]})
    assert len(subscription) == MAX_CHANNELS
    assert set(subscription.values()) == {((0, 99), (100, 199), (0, 0), (1, 1), (2, 2))}
    assert all(len(each) == MAX_RANGES for each in subscription.values())
