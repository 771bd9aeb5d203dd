"""The cache: bounded, forgotten whole, and told nothing that was read before it was."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moothall.runtime.cache import Cache

ACT = st.sampled_from(["keep", "use", "forget", "forget all"])
ACTS = st.lists(
    st.tuples(ACT, st.integers(0, 9), st.integers(1, 5)),
    max_size=60,
)


class Plain:
    """The same as a list of keys and values, the oldest first."""

    def __init__(self, maximum: int, weigh: Callable[[int], int]) -> None:
        self.maximum, self.weigh = maximum, weigh
        self.entries: list[tuple[int, int]] = []

    def act(self, act: str, key: int, value: int) -> None:
        old = [entry for entry in self.entries if entry[0] == key]
        if act == "forget all":
            self.entries = []
        elif act != "use" or old:
            self.entries = [entry for entry in self.entries if entry[0] != key]
            if act != "forget":
                self.entries += [(key, value)] if act == "keep" else old
        while sum(self.weigh(value) for _, value in self.entries) > self.maximum:
            del self.entries[0]


@pytest.mark.parametrize("weighed", [False, True])
@given(acts=ACTS, maximum=st.integers(1, 12))
def test_it_keeps_what_a_list_would(*, weighed: bool, acts: list[tuple[str, int, int]], maximum: int) -> None:
    cache: Cache[int, int] = Cache(maximum, weigh=int) if weighed else Cache(maximum)
    plain = Plain(maximum, int if weighed else lambda _value: 1)
    for act, key, value in acts:
        if act == "keep":
            cache.keep(key, value)
        elif act == "use":
            cache.use(key)
        elif act == "forget":
            cache.forget(key)
        else:
            cache.forget_all()
        plain.act(act, key, value)
        assert list(cache.items()) == plain.entries
        assert cache.weight == sum(plain.weigh(value) for _, value in plain.entries) <= maximum


def test_what_was_read_before_everything_was_forgotten_is_not_kept() -> None:
    cache: Cache[str, int] = Cache(3)
    generation = cache.generation
    cache.forget_all()
    cache.keep("a", 1, generation=generation)
    assert not cache
    cache.keep("a", 1, generation=cache.generation)
    assert cache.get("a") == 1


class Database:
    """Tables, of which one is written by other processes too."""

    def __init__(self) -> None:
        self.changed: dict[str, Callable[[], None]] = {}

    def watch(self, table: str, changed: Callable[[], None]) -> bool:
        self.changed[table] = changed
        return table != "shared"


def test_a_commit_to_any_watched_table_forgets_everything() -> None:
    database, cache = Database(), Cache[str, int](3)
    cache.watch(database, "users", "members")
    for table in ("users", "members"):
        cache.keep("a", 1)
        database.changed[table]()
        assert not cache


def test_nothing_is_kept_of_a_table_that_others_write() -> None:
    cache: Cache[str, int] = Cache(3)
    cache.watch(Database(), "shared", "users")
    cache.keep("a", 1)
    assert not cache.enabled
    assert not cache
