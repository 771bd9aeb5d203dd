"""Convergence: an old state with all events applied equals the state that a new session receives."""

import json
import os
from pathlib import Path
from typing import Any, Final

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moothall.objects.permissions import Permissions
from tests.gateway.mirror import Mirror
from tests.support.harness import Platform
from tests.support.town import VIEW, Town, converges

RECORDING: Final = Path(__file__).parent / "recordings" / "changes.json"
"""What the clients received through `RECORDED`, and new ones after it; the store of `web/` is tested with it too."""

_BITS = st.sampled_from(
    [
        0,
        Permissions.VIEW_CHANNEL,
        Permissions.VIEW_CHANNEL,
        Permissions.ADMINISTRATOR,
        Permissions.MANAGE_ROLES,
        Permissions.MANAGE_THREADS,
        Permissions.VIEW_CHANNEL | Permissions.MANAGE_THREADS,
        Permissions.CONNECT,
    ]
).map(lambda bits: str(int(bits)))
_number = st.integers(0, 7)
_steps = st.lists(
    st.one_of(
        st.tuples(st.just("create role"), _BITS),
        st.tuples(st.just("change role"), _number, _BITS),
        st.tuples(st.just("delete role"), _number),
        st.tuples(st.just("move role"), _number, _number),
        st.tuples(st.just("give role"), _number, _number),
        st.tuples(st.just("take role"), _number, _number),
        st.tuples(st.just("create channel"), st.sampled_from([0, 2, 4]), _number, _BITS, _BITS),
        st.tuples(st.just("change channel"), _number, _number, _BITS, _BITS),
        st.tuples(st.just("rename channel"), _number),
        st.tuples(st.just("delete channel"), _number),
        st.tuples(st.just("set overwrite"), _number, _number, _BITS, _BITS),
        st.tuples(st.just("drop overwrite"), _number, _number),
        st.tuples(st.just("rename guild"), st.sampled_from(["moot", "hall"])),
        st.tuples(st.just("make emoji"), _number),
        st.tuples(st.just("change emoji"), _number, _number),
        st.tuples(st.just("delete emoji"), _number),
        st.tuples(st.just("make sticker")),
        st.tuples(st.just("change sticker"), _number),
        st.tuples(st.just("delete sticker"), _number),
        st.tuples(st.just("make sound"), _number),
        st.tuples(st.just("change sound"), _number, _number),
        st.tuples(st.just("delete sound"), _number),
        st.tuples(st.just("nick"), _number, st.sampled_from(["Ed", None])),
        st.tuples(st.just("time out"), _number),
        st.tuples(st.just("say"), _number),
        st.tuples(st.just("leave"), _number),
        st.tuples(st.just("kick"), _number),
        st.tuples(st.just("ban"), _number),
        st.tuples(st.just("join"), _number),
        st.tuples(st.just("voice"), _number, _number),
        st.tuples(st.just("hang up"), _number),
        st.tuples(st.just("start thread"), _number, _number, st.sampled_from([11, 12, 12])),
        st.tuples(st.just("start from message"), _number, _number),
        st.tuples(st.just("post in forum"), _number),
        st.tuples(st.just("write in thread"), _number, _number),
        st.tuples(st.just("archive"), _number, st.booleans()),
        st.tuples(st.just("delete thread"), _number),
        st.tuples(st.just("join thread"), _number, _number),
        st.tuples(st.just("leave thread"), _number, _number),
        st.tuples(st.just("add to thread"), _number, _number),
        st.tuples(st.just("take from thread"), _number, _number),
        st.tuples(st.just("delete said"), _number),
        st.tuples(st.just("presence"), _number, st.sampled_from(["dnd", "invisible", "online"])),
    ),
    max_size=20,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=_steps)
async def test_the_state_from_events_equals_the_state_of_a_fresh_session(
    platform: Platform, steps: list[tuple[Any, ...]]
) -> None:
    town = Town(platform)
    await converges(town, steps)


_V, _A, _0 = str(VIEW), str(int(Permissions.ADMINISTRATOR)), "0"
RECORDED: Final[list[tuple[Any, ...]]] = [
    ("say", 0), ("say", 3), ("rename channel", 0), ("rename channel", 3),
    ("create role", _V), ("create role", _0), ("change role", 1, _V), ("move role", 1, 2),
    ("give role", 0, 0), ("give role", 1, 1), ("give role", 0, 2), ("take role", 1, 1),
    ("create channel", 4, 0, _V, _0), ("create channel", 0, 0, _0, _V), ("create channel", 2, 1, _V, _0),
    ("set overwrite", 0, 1, _V, _0), ("set overwrite", 3, 2, _0, _V), ("drop overwrite", 0, 1),
    ("change channel", 5, 0, _0, _V), ("change channel", 4, 1, _V, _0),
    ("make emoji", 1), ("make emoji", 2), ("change emoji", 0, 2), ("delete emoji", 1),
    ("make sticker",), ("make sticker",), ("change sticker", 0), ("delete sticker", 1),
    ("make sound", 0), ("change sound", 0, 3), ("rename guild", "hall"),
    ("nick", 0, "Ed"), ("nick", 1, "Ed"), ("nick", 1, None), ("time out", 2),
    ("start thread", 0, 0, 11), ("start thread", 1, 0, 12), ("start from message", 0, 0), ("post in forum", 1),
    ("write in thread", 0, 1), ("write in thread", 1, 0), ("join thread", 1, 0), ("join thread", 2, 2),
    ("leave thread", 1, 0), ("add to thread", 2, 1), ("take from thread", 2, 1), ("delete said", 2),
    ("archive", 0, True), ("archive", 0, False), ("archive", 2, True), ("start thread", 2, 3, 11),
    ("voice", 0, 3), ("voice", 1, 3), ("voice", 2, 3), ("voice", 0, 2), ("voice", 1, 2), ("voice", 0, 4),
    ("voice", 2, 4), ("voice", 1, 7), ("hang up", 1), ("delete channel", 7),
    ("presence", 0, "dnd"), ("presence", 1, "invisible"), ("presence", 1, "online"),
    ("delete role", 2), ("delete channel", 6), ("set overwrite", 2, 0, _0, _V), ("delete thread", 3),
    ("leave", 1), ("join", 1), ("kick", 2), ("join", 2), ("say", 1), ("give role", 2, 1), ("change role", 0, _V),
    ("change role", 2, _A), ("give role", 1, 1), ("delete role", 1), ("rename channel", 1),
]  # fmt: skip
"""Every kind of change at least once."""


async def test_the_recorded_changes_converge(platform: Platform) -> None:
    town = Town(platform)
    fresh = await converges(town, RECORDED)
    if os.environ.get("MOOTHALL_TEST_RECORDINGS") == "1":
        lines = [
            json.dumps({"changed": old.dispatches, "fresh": new.dispatches}, separators=(",", ":"))
            for old, new in zip(town.clients, fresh, strict=True)
        ]
        RECORDING.write_text("[" + ",\n".join(lines) + "]\n")


def test_the_recording_converges() -> None:
    for client in json.loads(RECORDING.read_text()):
        mirrors = {}
        for name, dispatches in client.items():
            mirrors[name] = Mirror()
            for dispatch in dispatches:
                mirrors[name].apply(*dispatch)
        assert mirrors["changed"].state() == mirrors["fresh"].state()
