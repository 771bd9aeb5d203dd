"""The size of the client's build: what browsers load before the first channel shows."""

import re
from pathlib import Path
from typing import Final

from moothall.pages.client_files import FOLDER
from tests.clients.client_pages import require_client

ASSETS: Final = FOLDER / "assets"
BYTES_MAX: Final = 200_000
"""Of compressed script, before the first channel shows (web/README.md, Measured)."""

_ENTRY: Final = re.compile(r'<script type="module"(?P<rest>[^>]*) src="/app/assets/(?P<name>[^"]+)"')
_IMPORT: Final = re.compile(r'(?:\bfrom|\bimport)\s*"\./([\w.-]+\.js)"')


def static_imports(*names: str) -> set[str]:
    """The scripts of the build that some of them import without being asked to, themselves included."""
    loaded: set[str] = set()
    waiting = set(names)
    while waiting:
        name = waiting.pop()
        loaded.add(name)
        waiting |= set(_IMPORT.findall((ASSETS / name).read_text())) - loaded
    return loaded


def compressed_size(name: str) -> int:
    return (ASSETS / f"{name}.br").stat().st_size


def entries() -> list[re.Match[str]]:
    """The scripts of the page, in their order."""
    return list(_ENTRY.finditer((FOLDER / "index.html").read_text()))


def names_of_entries() -> list[str]:
    return [entry["name"] for entry in entries()]


def largest(pattern: str) -> str:
    """The largest script of the build that matches a pattern."""
    return max((path.name for path in Path(ASSETS).glob(pattern)), key=compressed_size)


def test_the_scripts_before_the_first_channel_are_at_most_200_kilobytes() -> None:
    require_client()
    # The page asks for its language's texts and what shows messages, and starts the gateway's worker, before it can
    # show a channel.
    scripts = static_imports(*names_of_entries(), largest("worker-*.js"), largest("de-*.js"), largest("channel-*.js"))
    sizes = {name: compressed_size(name) for name in scripts}
    assert len(sizes) >= 5
    assert sum(sizes.values()) <= BYTES_MAX, sizes


def test_the_gateway_connects_by_a_small_script_that_waits_for_no_other() -> None:
    require_client()
    early, main = entries()
    assert "async" in early["rest"]
    before = static_imports(early["name"])
    assert main["name"] not in before
    assert sum(map(compressed_size, before)) <= 8_000


def test_menus_and_dialogs_are_loaded_when_they_are_needed() -> None:
    require_client()
    before = static_imports(*names_of_entries())
    for part in ("MenuPopover", "PanelPopover", "ModalDialog"):
        script = largest(f"{part}-*.js")
        assert script not in before
        assert sum(map(compressed_size, static_imports(script) - before)) > 5_000
