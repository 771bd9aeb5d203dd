"""The wheel and the sdist of `make dist`."""

import subprocess
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import msgspec

from moothall import __version__
from moothall.storage.statements.store import DIALECTS
from tests.packages.installed import ROOT, build_dist, check_served, install_wheel
from tests.support.serving import RunningServer, moothall
from tools.build_dist import CLIENT, DOCUMENTATION, sources


def test_the_wheel_has_every_file_of_the_program(dist: tuple[Path, Path], has_client: bool) -> None:
    with zipfile.ZipFile(dist[1]) as archive:
        names = set(archive.namelist())
        entry_points = archive.read(f"moothall-{__version__}.dist-info/entry_points.txt").decode()

    program = {str(path.relative_to("src")) for path in sources(ROOT) if path.parts[:2] == ("src", "moothall")}
    assert program <= names
    assert {"moothall/py.typed", "moothall/pages/templates/base.html", "moothall/cdn/sounds/1.ogg"} <= names
    assert "moothall/pages/locale/de/LC_MESSAGES/moothall.mo" in names
    assert "moothall=moothall.cli:main" in entry_points
    client = str(CLIENT.relative_to("src"))
    made = (client, str(DOCUMENTATION.relative_to("src")))
    others = {name for name in names - program if not name.startswith((*made, f"moothall-{__version__}.dist-info/"))}
    assert others == {f"moothall/storage/statements/compiled_{dialect}.msgpack" for dialect in DIALECTS}
    assert (f"{client}/index.html" in names) == has_client


def test_an_unpacked_sdist_builds_the_same_bytes_again(
    dist: tuple[Path, Path], tmp_path: Path, has_client: bool
) -> None:
    with tarfile.open(dist[0]) as archive:
        members = archive.getmembers()
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(tmp_path)  # noqa: S202 made above
    tree = tmp_path / f"moothall-{__version__}"
    for path in (tree / "web").rglob("*.json"):
        path.touch()
    again = build_dist(tree, tmp_path / "again", client=has_client)

    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in dist]
    assert {(member.uid, member.uname) for member in members} == {(0, "")}
    assert {member.mode for member in members} <= {0o644, 0o755}


def test_an_installed_wheel_serves_without_a_source_tree(
    dist: tuple[Path, Path], tmp_path: Path, has_client: bool
) -> None:
    program = install_wheel(dist[1], tmp_path / "environment")

    assert moothall("--version", program=program).stdout == f"moothall {__version__}\n"
    stored = f"from moothall.storage.statements.store import *; print([d for d in {DIALECTS} if stored_statements(d)])"
    python = [str(tmp_path / "environment" / "bin" / "python"), "-c", stored]
    assert subprocess.check_output(python, cwd=tmp_path, text=True) == f"{list(DIALECTS)}\n"
    migrated = moothall("migrate", "--data", str(tmp_path / "data"), program=program)
    assert (migrated.returncode, migrated.stdout) == (0, "The database is up to date.\n"), migrated.stderr
    with RunningServer(tmp_path / "data", "--demo", program=program) as server:
        assert msgspec.json.decode(server.fetch("/healthz")) == {"status": "ok"}
        demo: Any = msgspec.json.decode(server.command("demo", "--json").stdout)
        token, general = f"Bot {demo['bot']['token']}", demo["guild"]["channels"]["general"]
        assert server.request("POST", f"/channels/{general}/messages", {"content": "ping"}, token=token).status == 200
        history = server.request("GET", f"/channels/{general}/messages?limit=1", token=token)
        assert history.json[0]["content"] == "ping"
        check_served(server, token, has_client=has_client)
