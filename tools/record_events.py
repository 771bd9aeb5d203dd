"""A pytest plugin that records an example of each gateway event: `pytest -p tools.record_events tests/...`.

The examples of `docs/reference/event-examples.json` are kept where the tests emit no event of that name. It is for runs
of one process, without `-n`.
"""

import json
import sys
from pathlib import Path
from typing import Any, Final

import msgspec

from moothall.api.events import Event
from moothall.bus import Audience, Envelope
from moothall.resources import load_endpoints

PATH: Final = Path(__file__).resolve().parents[1] / "docs" / "reference" / "event-examples.json"
_recorded: dict[str, Any] = {}
RECORDS: Final = any("tools.record_events" in argument for argument in sys.argv)
"""Whether this run records."""


FOR_PEOPLE: Final = {"DirectChannelCreate", "DirectChannelDelete", "DirectChannelUpdate", "InteractionCreateAck"}
"""The events that only clients of people receive, whose names have another shape for bots."""

OF_GATEWAY: Final = {
    "READY", "RESUMED", "GUILD_CREATE", "GUILD_MEMBERS_CHUNK", "SOUNDBOARD_SOUNDS", "THREAD_LIST_SYNC",
    "VOICE_SERVER_UPDATE", "PRESENCE_UPDATE", "CHANNEL_INFO", "RATE_LIMITED",
}  # fmt: skip
"""The dispatches that the gateway itself makes."""


def record_dispatch(name: str, data: Any) -> None:
    """Record a dispatch of the gateway itself as a bot received it."""
    if name in OF_GATEWAY and name not in _recorded:
        _recorded[name] = data
        _write()


def _record(kind: type[Event]) -> None:
    """Record what a class that builds envelopes of its own builds."""
    encode = kind.envelope

    def envelope(event: Event) -> Envelope:
        built = encode(event)
        skipped = event.audience is Audience.NODE or type(event).__name__ in FOR_PEOPLE
        if not skipped and event.name not in _recorded:
            _recorded[event.name] = msgspec.json.decode(bytes(built.data))
            _write()
        return built

    kind.envelope = envelope  # type: ignore[method-assign,assignment]


def _write() -> None:
    before = json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else {}
    text = json.dumps(dict(sorted({**before, **_recorded}.items())), indent=1, ensure_ascii=False)
    PATH.parent.mkdir(exist_ok=True)
    PATH.write_text(text + "\n", encoding="utf-8")


def pytest_configure() -> None:
    """Record from now on."""
    import moothall.app.application  # noqa: F401, PLC0415 with it comes every event

    load_endpoints()
    pending: list[type[Event]] = [Event]
    while pending:
        kind = pending.pop()
        pending += kind.__subclasses__()
        if "envelope" in vars(kind):
            _record(kind)
