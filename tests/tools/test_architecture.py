"""docs/architecture.md names folders and files that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "moothall"
PAGE = (ROOT / "docs" / "architecture.md").read_text()
# A file of a room may be a package; it is no room inside that room.
FILES_OF_A_ROOM = {"operations", "queries"}
_PATH = re.compile(r"`([a-z0-9_./]+/[a-z0-9_./]*|[a-z0-9_]+\.py)`")


def rooms() -> set[str]:
    """The rooms of `resources/`, those inside others as `outer/inner`; not the packages of their files."""
    resources = SOURCE / "resources"
    folders = [init.parent for init in resources.rglob("__init__.py")]
    return {str(folder.relative_to(resources)) for folder in folders if folder.name not in FILES_OF_A_ROOM} - {"."}


def test_every_room_stands_in_the_table_of_rooms() -> None:
    table = PAGE.partition("## Rooms")[2].partition("## Files of a room")[0]
    named = set(re.findall(r"`([a-z_0-9]+)/`", table))
    assert {room.rpartition("/")[2] for room in rooms()} <= named


def test_every_folder_and_file_that_the_map_names_exists() -> None:
    bases = [ROOT, SOURCE, *(SOURCE / name for name in ("resources", "storage", "gateway", "api", "app", "authority"))]
    missing = [
        path
        for path in _PATH.findall(PAGE)
        if not any((base / path).exists() for base in bases) and not any((SOURCE / "resources").rglob(path.rstrip("/")))
    ]
    assert missing == []


def test_every_floor_of_the_source_stands_in_the_table_of_floors() -> None:
    table = PAGE.partition("## Floors")[2].partition("## Rooms")[0]
    folders = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    assert {f"`{name}/`" for name in folders} <= set(re.findall(r"`[a-z0-9_]+/`", table))
