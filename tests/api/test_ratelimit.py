"""Rate limits as public clients parse them."""

import pytest

from moothall.api.ratelimit import (
    CALLBACK_RATE,
    GLOBAL_RATE,
    INVALID_RATE,
    SEPARATE_FACTOR,
    WEBHOOK_RATE,
    Rate,
    RateLimiter,
    RateLimitResult,
)


class Clock:
    """A clock that tests move."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def limiter(clock: Clock) -> RateLimiter:
    return RateLimiter(loopback_multiplier=10, clock=clock)


RATE = Rate(2, 5.0)


def take(
    limiter: RateLimiter, *, caller: int = 1, major: str = "g", bucket: bytes = b"b", loopback: bool = False
) -> RateLimitResult:
    return limiter.take(bucket, RATE, caller, major, loopback=loopback)


def test_a_window_counts_down_refuses_and_opens_again(limiter: RateLimiter, clock: Clock) -> None:
    assert [take(limiter).allowed for _ in range(3)] == [True, True, False]
    clock.now += 5
    assert take(limiter).allowed


def test_headers_tell_what_is_left_and_when_it_resets(limiter: RateLimiter, clock: Clock) -> None:
    headers = dict(take(limiter).headers)
    assert headers[b"x-ratelimit-limit"] == b"2"
    assert headers[b"x-ratelimit-remaining"] == b"1"
    assert float(headers[b"x-ratelimit-reset-after"]) == 5.0
    assert float(headers[b"x-ratelimit-reset"]) == clock.now + 5
    assert headers[b"x-ratelimit-bucket"] == b"b"


def test_a_refusal_carries_what_clients_wait_by(limiter: RateLimiter) -> None:
    for _ in range(2):
        take(limiter)
    verdict = take(limiter)
    headers = dict(verdict.headers)
    assert verdict.retry_after == pytest.approx(5.0)
    assert headers[b"retry-after"] == b"5"
    assert headers[b"x-ratelimit-scope"] == b"user"
    assert b"via" in headers
    assert headers[b"x-ratelimit-remaining"] == b"0"


def test_callers_places_and_buckets_do_not_share_a_window(limiter: RateLimiter) -> None:
    for _ in range(2):
        take(limiter)
    assert take(limiter, caller=2).allowed
    assert take(limiter, major="h").allowed
    assert take(limiter, bucket=b"c").allowed


def test_the_global_limit_spans_all_buckets(limiter: RateLimiter) -> None:
    verdicts = [take(limiter, bucket=b"%d" % i) for i in range(51)]
    assert [v.allowed for v in verdicts] == [True] * 50 + [False]
    assert dict(verdicts[-1].headers)[b"x-ratelimit-global"] == b"true"
    assert verdicts[-1].scope == "global"


def test_loopback_gets_many_times_more(limiter: RateLimiter) -> None:
    assert all(take(limiter, loopback=True).allowed for _ in range(20))
    assert not take(limiter, loopback=True).allowed


def test_an_address_that_only_collects_refusals_is_shut_out_for_the_window(limiter: RateLimiter, clock: Clock) -> None:
    for _ in range(INVALID_RATE.requests):
        assert limiter.banned_for("1.2.3.4") == 0
        limiter.note_refusal("1.2.3.4", loopback=False)
    assert limiter.banned_for("1.2.3.4") > 0
    assert limiter.banned_for("1.2.3.5") == 0
    clock.now += INVALID_RATE.seconds
    assert limiter.banned_for("1.2.3.4") == 0


def test_windows_that_are_over_are_forgotten(limiter: RateLimiter, clock: Clock) -> None:
    for caller in range(100):
        take(limiter, caller=caller)
    clock.now += 60
    take(limiter)
    assert len(limiter._windows) == 2


def test_windows_are_bounded_even_while_all_are_live(clock: Clock) -> None:
    limiter = RateLimiter(clock=clock, max_windows=100)
    for caller in range(1_000):
        clock.now += 0.01
        take(limiter, caller=caller)
    assert len(limiter._windows) <= 400
    # The newest are remembered.
    assert [take(limiter, caller=999).allowed for _ in range(3)] == [True, False, False]


def post(limiter: RateLimiter, webhook: str = "w", *, caller: int = 1, bucket: bytes = b"execute") -> RateLimitResult:
    return limiter.take(bucket, WEBHOOK_RATE, caller, webhook, loopback=False)


def test_a_webhook_has_one_count_for_all_callers_and_all_its_rows(limiter: RateLimiter, clock: Clock) -> None:
    posted = [post(limiter, caller=n, bucket=b"slack" if n % 2 else b"github").allowed for n in range(6)]
    assert posted == [True] * 5 + [False]
    assert post(limiter, "another").allowed
    clock.now += 2
    assert post(limiter).allowed


def test_a_webhook_posts_thirty_times_a_minute(limiter: RateLimiter, clock: Clock) -> None:
    for _ in range(6):
        assert all(post(limiter).allowed for _ in range(5))
        clock.now += 2
    refused = post(limiter)
    assert (refused.allowed, refused.scope, refused.retry_after) == (False, "shared", 48.0)
    assert dict(refused.headers)[b"x-ratelimit-limit"] == b"30"
    clock.now += 48
    assert post(limiter).allowed


def test_an_operator_says_how_often_webhooks_may_post(clock: Clock) -> None:
    limiter = RateLimiter(loopback_multiplier=10, clock=clock, webhook_requests=2, webhook_minute_requests=3)
    assert [post(limiter).allowed for _ in range(3)] == [True, True, False]
    clock.now += 2
    assert [post(limiter).allowed for _ in range(2)] == [True, False]


def test_answers_to_interactions_are_counted_for_each_and_separately_from_all_else(limiter: RateLimiter) -> None:
    def answer(interaction: int) -> bool:
        return limiter.take(b"callback", CALLBACK_RATE, 1, (interaction, "token"), loopback=False).allowed

    assert [answer(0) for _ in range(6)] == [True] * 5 + [False]
    assert all(answer(number) for number in range(1, 101))
    assert take(limiter).allowed
    assert sum(answer(number) for number in range(1_000, 2_000)) < GLOBAL_RATE.requests * SEPARATE_FACTOR


def spend(limiter: RateLimiter, amount: float = 1, *, name: str = "n", loopback: bool = False) -> float:
    return limiter.spend(name, RATE, "1.2.3.4", amount, loopback=loopback)


def test_what_is_spent_is_counted_separately_from_requests_and_by_name(limiter: RateLimiter, clock: Clock) -> None:
    assert [spend(limiter) for _ in range(3)] == [0, 0, 5]
    clock.now += 2
    assert spend(limiter) == 3
    assert spend(limiter, name="m") == 0
    assert take(limiter).allowed
    clock.now += 3
    assert spend(limiter) == 0


def test_what_costs_more_than_is_left_is_let_through_once(limiter: RateLimiter, clock: Clock) -> None:
    assert spend(limiter, 0) == 0
    assert spend(limiter, 500) == 0
    assert spend(limiter, 0) == 5
    clock.now += 5
    assert spend(limiter, 1) == 0


def test_this_machine_spends_many_times_more(limiter: RateLimiter) -> None:
    assert [spend(limiter, 10, loopback=True) for _ in range(3)] == [0, 0, 5]


def test_windows_of_what_is_spent_are_forgotten(limiter: RateLimiter, clock: Clock) -> None:
    for number in range(100):
        spend(limiter, name=str(number))
    clock.now += 60
    spend(limiter)
    assert len(limiter._windows) == 1
