"""The Debian package, and its installation on a root file system of its own."""

import json
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from moothall import __version__
from moothall.settings import load
from moothall.storage.migrations import HEAD
from tests.packages.debian_root import DEPENDENCIES, DebianRoot, require_debian
from tests.packages.old_versions import old_database, revision_of
from tests.support.commands import parse_command
from tests.support.serving import RunningServer, moothall
from tools.build_deb import PARTS, build_deb, deb_version, install_wheel
from tools.build_dist import ROOT


def install(python: Path, wheel: Path) -> None:
    """Install the wheel, and find its dependencies in the tests' environment."""
    install_wheel(python, wheel)
    (packages,) = python.parents[1].glob("lib/python3.*/site-packages")
    (packages / "dependencies.pth").write_text(f"{DEPENDENCIES}\n")


@pytest.fixture(scope="module")
def packages(dist: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The package without its dependencies, and the next revision of it."""
    require_debian()
    folder = tmp_path_factory.mktemp("deb")
    package = build_deb(dist[1], folder, install=install, compression="none")
    subprocess.run(["dpkg-deb", "--raw-extract", str(package), str(folder / "next")], check=True)
    control = folder / "next" / "DEBIAN" / "control"
    version = deb_version(ROOT, __version__)
    control.write_text(control.read_text().replace(version, version.replace("-1", "-2")))
    following = folder / package.name.replace("-1_", "-2_")
    build = ["dpkg-deb", "--root-owner-group", "-Znone", "--build", str(folder / "next"), str(following)]
    subprocess.run(build, stdout=subprocess.DEVNULL, check=True)
    return [package, following]


def test_the_package_has_what_a_system_needs_and_no_path_of_the_build(packages: list[Path], tmp_path: Path) -> None:
    fields = subprocess.check_output(["dpkg-deb", "--field", str(packages[0])], text=True)
    listed = subprocess.check_output(["dpkg-deb", "--contents", str(packages[0])], text=True).splitlines()
    subprocess.run(["dpkg-deb", "--raw-extract", str(packages[0]), str(tmp_path)], check=True)

    assert f"\nVersion: {deb_version(ROOT, __version__)}\n" in fields
    assert re.search(r"\nDepends: python3 \(>= 3\.(\d+)\), python3 \(<< 3\.(\d+)~\), ", fields)
    assert "@" not in fields.replace("root@localhost", "")
    assert {line.split()[1] for line in listed} == {"root/root"}
    modes = {line.split()[5]: line.split()[0] for line in listed}
    assert modes["./usr/bin/moothall"] == "-rwxr-xr-x"
    assert modes["./etc/moothall.toml"] == modes["./lib/systemd/system/moothall.service"] == "-rw-r--r--"
    assert (tmp_path / "DEBIAN" / "conffiles").read_text() == "/etc/moothall.toml\n"
    programs = {path.name for path in (tmp_path / "usr/lib/moothall/bin").iterdir()}
    assert all(re.fullmatch(r"python[\d.]*", name) for name in programs)
    subprocess.run(["md5sum", "--check", "--quiet", "DEBIAN/md5sums"], cwd=tmp_path, check=True)
    for path in (tmp_path / "usr/lib/moothall").rglob("*"):
        if path.is_file() and not path.is_symlink():
            assert b"moothall-deb-" not in path.read_bytes(), path


def test_the_unit_and_the_settings_of_the_package_fit_the_program() -> None:
    unit = (PARTS / "moothall.service").read_text()
    settings = load(config=PARTS / "moothall.toml", environ={})

    (command,) = re.findall(r"^ExecStart=/usr/bin/moothall (.*)$", unit, re.MULTILINE)
    parse_command(command.split())
    assert "--config /etc/moothall.toml" in command
    assert str(settings.data) == "/var/lib/moothall"
    assert f"StateDirectory={settings.data.name}\n" in unit
    commented = re.findall(r"^# (\w+ = .*)$", (PARTS / "moothall.toml").read_text(), re.MULTILINE)
    assert {line.split()[0] for line in commented} <= set(settings.__struct_fields__)
    for script in ("postinst", "prerm", "postrm", "moothall.sh"):
        subprocess.run(["sh", "-n", str(PARTS / script)], check=True)


def test_systemd_accepts_the_unit_and_finds_it_little_exposed(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    unit = tmp_path / "moothall.service"
    unit.write_text((PARTS / unit.name).read_text().replace("/usr/bin/moothall", "/bin/true"))

    verified = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    assert (verified.returncode, verified.stderr) == (0, "")
    # In tenths, where 100 is a unit without any restriction. It fails above.
    exposure = ["systemd-analyze", "security", "--offline=true", "--threshold=20", str(unit)]
    audited = subprocess.run(exposure, capture_output=True, text=True, check=False)
    assert audited.returncode == 0, audited.stdout + audited.stderr


def test_dpkg_installs_upgrades_and_removes_the_package(packages: list[Path], tmp_path: Path) -> None:
    with DebianRoot(tmp_path) as root:
        data, database = root.path / "var/lib/moothall", root.path / "var/lib/moothall/moothall.sqlite3"
        for package in packages:
            (root.path / "tmp" / package.name).write_bytes(package.read_bytes())
        first, second = (f"/tmp/{package.name}" for package in packages)  # noqa: S108 of the root file system

        root.run("dpkg", "--force-unsafe-io", "--install", first)
        assert root.run("stat", "-c", "%U:%G %a", "/var/lib/moothall", "/etc/moothall.toml").splitlines() == [
            "moothall:moothall 700",
            "root:moothall 640",
        ]
        program = (*root.enter, "moothall")
        assert moothall("--version", program=program).stdout == f"moothall {__version__}\n"
        with RunningServer(Path("/var/lib/moothall"), program=program) as server:
            account = {"username": "writer", "password": "9f-k3q-zw7-long"}
            assert server.request("POST", "/auth/register", account).status == 201
        assert "Moothall community" not in server.printed  # demo = false
        assert root.run("stat", "-c", "%U %a", "/var/lib/moothall/moothall.sqlite3") == "moothall 600\n"
        report = json.loads(moothall("doctor", "--json", program=program).stdout)
        assert [finding for finding in report["findings"] if finding["level"] == "error"] == []

        for file in data.glob("moothall.sqlite3*"):
            file.unlink()
        old_database(tmp_path / "old.sqlite3")
        shutil.copyfile(tmp_path / "old.sqlite3", database)
        root.run("chown", "moothall:moothall", "/var/lib/moothall/moothall.sqlite3")
        root.run("sed", "-i", "s/^port = 3333/port = 3334/", "/etc/moothall.toml")
        root.run("dpkg", "--force-unsafe-io", "--install", second)
        shutil.copyfile(database, tmp_path / "new.sqlite3")
        assert revision_of(tmp_path / "new.sqlite3") == HEAD
        assert "port = 3334" in (root.path / "etc/moothall.toml").read_text()
        assert "-2\n" in root.run("dpkg-query", "--show", "moothall")

        root.run("dpkg", "--remove", "moothall")
        assert not (root.path / "usr/lib/moothall").exists()
        assert (root.path / "etc/moothall.toml").exists()
        assert database.exists()
        assert stat.S_IMODE(data.stat().st_mode) == 0o700
        root.run("dpkg", "--purge", "moothall")
        assert not (root.path / "etc/moothall.toml").exists()
        assert not data.exists()
        assert "moothall" not in (root.path / "etc/passwd").read_text()
        assert "moothall" not in (root.path / "etc/group").read_text()
        # /var/lib is the machine's own, where a NATS server may keep streams of other tests.
        others = ("-path", "/var/lib/nats-server", "-prune", "-o")
        where = ("/etc", "/var/lib", "/usr/lib", "/lib/systemd")
        assert root.run("find", *where, *others, "-name", "moothall*", "-print") == ""
    assert not Path("/usr/lib/moothall").exists()
