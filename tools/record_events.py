"""A pytest plugin that records an example of each gateway event: `pytest -p tools.record_events tests/...`.

The examples of `docs/reference/event-examples.json` are kept where the tests emit no event of that name. It is for runs
of one process, without `-n`.
"""

import json
from pathlib import Path
from typing import Any, Final

import msgspec

from moothall.api.events import Event
from moothall.bus import Audience, Envelope

PATH: Final = Path(__file__).resolve().parents[1] / "docs" / "reference" / "event-examples.json"
_recorded: dict[str, Any] = {}
_encode = Event.envelope


def _recording(event: Event) -> Envelope:
    envelope = _encode(event)
    if event.audience is not Audience.NODE and event.name not in _recorded:
        _recorded[event.name] = msgspec.json.decode(bytes(envelope.data))
        _write()
    return envelope


def _write() -> None:
    before = json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else {}
    text = json.dumps(dict(sorted({**before, **_recorded}.items())), indent=1, ensure_ascii=False)
    PATH.parent.mkdir(exist_ok=True)
    PATH.write_text(text + "\n", encoding="utf-8")


def pytest_configure() -> None:
    """Record from now on."""
    Event.envelope = _recording  # type: ignore[method-assign,assignment]
