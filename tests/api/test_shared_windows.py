"""Rate limits that several processes count together."""

from moothall.api.ratelimit import Rate, RateLimiter
from moothall.api.shared_windows import ProcessWindows, SharedWindows


class Clock:
    """A clock that the test moves."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def limiters(clock: Clock, *, slots: int = 1024) -> tuple[RateLimiter, RateLimiter]:
    shared = SharedWindows(2, slots=slots)
    one, other = (RateLimiter(shared=ProcessWindows(shared, number), clock=clock) for number in range(2))
    return one, other


def test_requests_at_either_process_count_against_one_limit() -> None:
    clock = Clock()
    one, other = limiters(clock)
    rate = Rate(4, 2.0)
    results = [
        limiter.take(b"bucket", rate, 7, None, loopback=False) for limiter in (one, other, one, other, one, other)
    ]
    assert [result.allowed for result in results] == [True] * 4 + [False] * 2
    remaining = [dict(result.headers)[b"x-ratelimit-remaining"] for result in results[:4]]
    assert remaining == [b"3", b"2", b"1", b"0"]
    ends = {dict(result.headers)[b"x-ratelimit-reset"] for result in results}
    assert ends == {b"1002.000"}

    assert one.take(b"bucket", rate, 8, None, loopback=False).allowed
    clock.now += 2.0
    assert one.take(b"bucket", rate, 7, None, loopback=False).allowed


def test_a_ban_holds_at_every_process_and_for_its_address_alone() -> None:
    clock = Clock()
    shared = SharedWindows(2)
    one, other = (
        RateLimiter(shared=ProcessWindows(shared, number), clock=clock, invalid_requests=3) for number in range(2)
    )
    for limiter in (one, other, one):
        assert other.banned_for("192.0.2.1") == 0
        limiter.note_refusal("192.0.2.1", loopback=False)
    assert one.banned_for("192.0.2.1") == other.banned_for("192.0.2.1") == 600
    assert other.banned_for("192.0.2.2") == 0


def test_what_is_spent_at_one_process_is_spent_at_the_other() -> None:
    one, other = limiters(Clock())
    rate = Rate(100, 10.0)
    assert one.spend("scaling", rate, "192.0.2.1", 150.5, loopback=False) == 0
    assert other.spend("scaling", rate, "192.0.2.1", 0, loopback=False) == 10


def test_a_full_table_never_counts_one_client_for_another() -> None:
    clock = Clock()
    one, other = limiters(clock, slots=16)
    rate = Rate(2, 2.0)
    for caller in range(1_000):
        assert one.take(b"bucket", rate, caller, None, loopback=False).allowed
    assert other.take(b"bucket", rate, 5_000, None, loopback=False).allowed
