"""What /metrics says of a process."""

import threading
import time

import pytest
from prometheus_client.parser import text_string_to_metric_families

from moothall.runtime.metrics import Distribution, Metrics


def samples(metrics: Metrics) -> dict[str, float]:
    """Every line of the text, by its name and labels."""
    text = metrics.render().decode()
    return {
        sample.name + "".join(f" {name}={value}" for name, value in sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_requests_are_counted_by_row_and_status() -> None:
    metrics = Metrics()
    for status in (200, 200, 404):
        metrics.observe_request("get_guild", status, 0.002)
    metrics.observe_request("create_guild_ban", 204, 0.2)

    shown = samples(metrics)

    assert shown["moothall_http_requests_total row=get_guild status=200"] == 2
    assert shown["moothall_http_requests_total row=get_guild status=404"] == 1
    assert shown["moothall_http_requests_total row=create_guild_ban status=204"] == 1


def test_a_latency_falls_under_every_bound_that_is_not_below_it() -> None:
    metrics = Metrics()
    metrics.observe_request("get_guild", 200, 0.0025)
    metrics.observe_request("get_guild", 200, 60)

    shown = samples(metrics)

    bucket = "moothall_http_request_seconds_bucket le={} row=get_guild"
    assert shown[bucket.format("0.001")] == 0
    assert shown[bucket.format("0.0025")] == 1
    assert shown[bucket.format("10.0")] == 1
    assert shown[bucket.format("+Inf")] == 2
    assert shown["moothall_http_request_seconds_count row=get_guild"] == 2
    assert shown["moothall_http_request_seconds_sum row=get_guild"] == pytest.approx(60.0025)


def test_commits_are_counted_with_their_size_and_duration() -> None:
    metrics = Metrics()
    metrics.observe_commit(32, 0.0002)

    shown = samples(metrics)

    assert shown["moothall_commit_transactions_bucket le=16.0"] == 0
    assert shown["moothall_commit_transactions_bucket le=32.0"] == 1
    assert shown["moothall_commit_seconds_sum"] == pytest.approx(0.0002)


def test_events_are_counted_where_they_are_published_and_where_they_arrive() -> None:
    metrics = Metrics()
    metrics.count_published("GUILD_BAN_ADD")
    metrics.count_published("GUILD_BAN_ADD")
    metrics.delivered += 500

    shown = samples(metrics)

    assert shown["moothall_events_published_total name=GUILD_BAN_ADD"] == 2
    assert shown["moothall_events_delivered_total"] == 500


def test_a_gauge_shows_the_value_of_the_moment() -> None:
    metrics = Metrics()
    sessions: list[int] = []
    metrics.add_gauge("gateway_sessions", "Gateway sessions.", lambda: len(sessions))

    assert samples(metrics)["moothall_gateway_sessions"] == 0
    sessions.extend((1, 2))
    assert samples(metrics)["moothall_gateway_sessions"] == 2


def test_the_process_tells_its_own_memory() -> None:
    assert samples(Metrics())["process_resident_memory_bytes"] > 1_000_000


def test_rendering_while_new_rows_appear_never_fails() -> None:
    metrics = Metrics()

    def write() -> None:
        for row in range(200):
            metrics.observe_request(f"row{row}", 200, 0.1)
            time.sleep(0)

    writer = threading.Thread(target=write)
    writer.start()
    while writer.is_alive():
        metrics.render()
    writer.join()

    assert sum(value for name, value in samples(metrics).items() if "requests_total" in name) == 200


def test_a_distribution_counts_every_value_once() -> None:
    distribution = Distribution((1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 2.0, 3.0):
        distribution.observe(value)

    assert distribution.cumulative() == ([("1.0", 2.0), ("2.0", 4.0), ("+Inf", 5.0)], 8.0)
