"""Ids of files: unique, in order, and without the time's regularity."""

from moothall.api.file_ids import FileIds
from moothall.objects.ids import EPOCH_MS, Snowflake, SnowflakeFactory

NOW = EPOCH_MS + 10_000_000
LOW = (1 << 22) - 1


def made(count: int, *, key: bytes = b"k" * 32, worker: int = 0, process: int = 0, now: int = NOW) -> list[Snowflake]:
    """So many ids of a process whose clock stands still."""
    ids = FileIds(SnowflakeFactory(worker=worker, process=process, clock=lambda: now), key)
    return [ids.next() for _ in range(count)]


def test_ids_rise_by_a_millisecond_each_from_the_moment_on() -> None:
    assert [file_id.created_ms for file_id in made(20)] == list(range(NOW, NOW + 20))


def test_processes_with_one_key_never_make_the_same_id() -> None:
    ids = [
        file_id for worker in range(32) for process in range(32) for file_id in made(4, worker=worker, process=process)
    ]
    assert len(set(ids)) == 32 * 32 * 4


def test_the_low_bits_do_not_follow_from_the_time() -> None:
    low = [made(1, now=NOW + ms)[0] & LOW for ms in range(2000)]
    # Of 2000 numbers below four million one pair is equal by chance every second time.
    assert len(set(low)) >= 1990
    for bit in range(22):
        assert 800 < sum(number >> bit & 1 for number in low) < 1200
    assert sum(number == 0 for number in low) <= 1


def test_without_the_key_nothing_is_known_of_the_low_bits() -> None:
    pairs = zip(made(1000), made(1000, key=b"o" * 32), strict=True)
    assert sum(one == other for one, other in pairs) <= 1


def test_ids_of_one_millisecond_tell_nothing_of_each_other() -> None:
    """Two ids of a millisecond that differ in the process alone do not reveal the next id."""
    differences = {made(1, process=0, now=NOW + ms)[0] ^ made(1, process=1, now=NOW + ms)[0] for ms in range(500)}
    assert len(differences) >= 495
