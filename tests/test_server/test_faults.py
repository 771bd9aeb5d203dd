"""Faults of requests, events and gateway connections, as a plain client and as discord.py see them."""

import contextlib
import time
import urllib.error

import pytest

from moothall.test_server.faults import Fault, Faults, RoughSeas, route_matches
from tests.test_server.controlled import ControlledServer, Gateway


def test_a_rate_limit_applies_to_the_next_requests_of_its_route_and_then_no_more(server: ControlledServer) -> None:
    server.control(
        "POST",
        "/faults",
        {"kind": "rate_limit", "route": "POST /channels/{channel.id}/messages", "count": 2, "seconds": 7.5},
    )

    other = server.api("GET", "/users/@me", who="bot")
    limited = [server.say("hello", who="bot") for _ in range(2)]
    after = server.say("hello", who="bot")

    assert (other.status, after.status) == (200, 200)
    assert [each.status for each in limited] == [429, 429]
    assert limited[0].json["retry_after"] == 7.5
    assert limited[0].headers["X-RateLimit-Scope"] == "user"
    assert server.warnings() == []  # the test wanted it so


def test_a_global_rate_limit_says_so(server: ControlledServer) -> None:
    server.control("POST", "/faults", {"kind": "rate_limit", "scope": "global"})

    limited = server.api("GET", "/users/@me", who="bot")

    assert limited.json["global"] is True
    assert limited.headers["X-RateLimit-Global"] == "true"


@pytest.mark.parametrize("status", [500, 502, 503])
def test_an_error_is_answered_and_nothing_is_changed(server: ControlledServer, status: int) -> None:
    server.control("POST", "/faults", {"kind": "error", "status": status})

    assert server.say("lost", who="bot").status == status
    assert server.api("GET", f"/channels/{server.general}/messages").json == []


def test_faults_are_for_bots_unless_they_name_a_person(server: ControlledServer) -> None:
    server.control("POST", "/faults", {"kind": "error", "count": None})
    assert server.say("hello", who="alice").status == 200

    server.control("DELETE", "/faults")
    server.control("POST", "/faults", {"kind": "error", "actor": "alice"})

    assert server.say("hello", who="bot").status == 200
    assert server.say("hello", who="alice").status == 503


def test_slow_answers_are_slow_and_dropped_ones_never_come(server: ControlledServer) -> None:
    server.control("POST", "/faults", {"kind": "slow", "seconds": 0.4})
    started = time.monotonic()
    assert server.api("GET", "/users/@me", who="bot").status == 200
    assert time.monotonic() - started >= 0.4

    server.control("POST", "/faults", {"kind": "drop"})
    with pytest.raises((ConnectionError, urllib.error.URLError)):
        server.api("GET", "/users/@me", who="bot")


@pytest.mark.parametrize(
    ("route", "matches"),
    [
        (None, True),
        ("POST /channels/*/messages", True),
        ("/channels/{channel.id}/messages", True),
        ("GET /channels/*/messages", False),
        ("POST /channels/*", False),
        ("/channels/1/messages", True),
        ("/channels/2/messages", False),
    ],
)
def test_a_route_is_a_method_and_a_path_with_open_segments(route: str | None, *, matches: bool) -> None:
    assert route_matches(route, "POST", "/channels/1/messages") is matches


def test_rough_seas_are_the_same_for_the_same_seed() -> None:
    def voyage(seed: int) -> list[str | None]:
        faults = Faults()
        faults.set_seas(RoughSeas(seed=seed))
        requests = [faults.for_request("GET", "/", frozenset(), bot=True) for _ in range(300)]
        events = [faults.for_event("MESSAGE_CREATE") for _ in range(300)]
        return [None if each is None else each.kind for each in requests + events]

    assert voyage(1) == voyage(1)
    assert voyage(1) != voyage(2)
    assert {"rate_limit", "error", "slow", "late_event", "duplicate_event", None} == set(voyage(1))


def test_people_sail_in_calm_water() -> None:
    faults = Faults()
    faults.set_seas(RoughSeas(seed=1, errors=1))
    faults.add(Fault("error", actor="alice"))

    assert faults.for_request("GET", "/", frozenset({"bob"}), bot=False) is None


def test_an_event_can_come_twice_or_late(server: ControlledServer) -> None:
    with Gateway(server).identify() as gateway:
        server.control("POST", "/faults", {"kind": "duplicate_event", "event": "MESSAGE_CREATE"})
        message_id = server.say("twice").json["id"]
        first, second = gateway.event("MESSAGE_CREATE"), gateway.event("MESSAGE_CREATE")
        assert first["id"] == second["id"] == message_id

        server.control("POST", "/faults", {"kind": "late_event", "seconds": 0.5})
        server.say("late")
        server.api("POST", f"/channels/{server.general}/typing")
        assert gateway.event("TYPING_START")
        assert gateway.event("MESSAGE_CREATE")["content"] == "late"


def test_a_reconnect_is_requested_and_the_session_can_be_resumed(server: ControlledServer) -> None:
    with Gateway(server).identify() as gateway:
        assert server.control("POST", "/gateway", {"action": "reconnect"}) == {"connections": 1}
        assert gateway.until(7)["d"] is None
        seq = gateway.seq
    # The client closed with 1000, which ends a session.
    with Gateway(server).resume(gateway.session_id, seq) as ended:
        assert ended.until(9)["d"] is False


def test_a_dropped_connection_loses_no_event(server: ControlledServer) -> None:
    gateway = Gateway(server).identify()
    server.control("POST", "/gateway", {"action": "drop", "actor": "bot"})
    assert gateway.close_code() is None

    server.say("meanwhile")

    with Gateway(server).resume(gateway.session_id, gateway.seq) as again:
        assert again.event("MESSAGE_CREATE")["content"] == "meanwhile"
        assert again.event("RESUMED")


@pytest.mark.parametrize("resumable", [True, False])
def test_an_invalid_session_can_be_resumed_or_not(server: ControlledServer, *, resumable: bool) -> None:
    with Gateway(server).identify() as gateway:
        server.control("POST", "/gateway", {"action": "invalid_session", "resumable": resumable})
        assert gateway.until(9)["d"] is resumable

        with Gateway(server).resume(gateway.session_id, gateway.seq) as again:
            assert again.receive()["op"] == (0 if resumable else 9)


def test_a_half_open_connection_passes_nothing(server: ControlledServer) -> None:
    with Gateway(server).identify() as gateway:
        server.control("POST", "/gateway", {"action": "half_open"})
        gateway.send(1, None)
        server.say("unheard")
        received = []
        with contextlib.suppress(TimeoutError):
            while True:
                received.append(gateway.receive(0.5))

    assert not {(each["op"], each["t"]) for each in received} & {(0, "MESSAGE_CREATE"), (11, None)}


def test_missed_heartbeats_are_not_acknowledged(server: ControlledServer) -> None:
    with Gateway(server).identify() as gateway:
        gateway.send(1, None)
        assert gateway.until(11)

        server.control("POST", "/gateway", {"action": "ignore_heartbeats"})
        gateway.send(1, None)

        assert gateway.close_code() == 4009


def test_a_connection_can_be_closed_with_a_code(server: ControlledServer) -> None:
    with Gateway(server).identify() as gateway:
        server.control("POST", "/gateway", {"action": "close", "code": 4008})

        assert gateway.close_code() == 4008


def test_a_guild_can_be_unavailable_for_a_while(server: ControlledServer) -> None:
    with Gateway(server).identify() as gateway:
        outage = {"guild_id": server.guild["id"]}
        server.control("POST", "/outages", outage)
        assert gateway.event("GUILD_DELETE") == {"id": server.guild["id"], "unavailable": True}
        server.say("unheard")

        server.control("POST", "/outages/end", outage)

        assert gateway.receive()["t"] == "GUILD_CREATE"
        server.say("heard")
        assert gateway.event("MESSAGE_CREATE")["content"] == "heard"
