"""What a fresh clone can rely on: the lock, the Makefile, nothing but Python and make."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]


def project() -> dict[str, Any]:
    """pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def locked(name: str) -> dict[str, set[str]]:
    """Versions by package in a lock file; a package may have several, for different Pythons."""
    versions: dict[str, set[str]] = {}
    for line in re.findall(r"^[a-z].*", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE):
        package, version = re.match(r"([a-z0-9-]+)==([^ ]+)", line).groups()  # type: ignore[union-attr]  # fails the test
        versions.setdefault(package, set()).add(version)
    return versions


def ranges(requirements: list[Any]) -> list[Requirement]:
    """Requirements without the references to other groups."""
    return [Requirement(each) for each in requirements if isinstance(each, str)]


@pytest.mark.parametrize(
    ("lock", "groups"), [("requirements.lock", ["build"]), ("requirements-dev.lock", ["build", "dev"])]
)
def test_the_lock_holds_every_requirement_at_a_version_within_its_range(lock: str, groups: list[str]) -> None:
    requirements = ranges(project()["project"]["dependencies"])
    for extra in ("postgres", "nats"):
        requirements += ranges(project()["project"]["optional-dependencies"][extra])
    for group in [*groups, *(["suite"] if "dev" in groups else [])]:
        requirements += ranges(project()["dependency-groups"][group])
    versions = locked(lock)

    for requirement in requirements:
        locked_versions = versions[canonicalize_name(requirement.name)]
        assert all(requirement.specifier.contains(version) for version in locked_versions), requirement


def test_every_requirement_has_a_lower_and_an_upper_bound() -> None:
    table = project()["project"]
    groups = [*project()["dependency-groups"].values(), *table["optional-dependencies"].values()]
    for requirement in ranges([*table["dependencies"], *(each for group in groups for each in group)]):
        assert {specifier.operator for specifier in requirement.specifier} == {">=", "<"}, requirement


def test_what_runs_is_the_same_with_and_without_the_tools() -> None:
    runtime, dev = locked("requirements.lock"), locked("requirements-dev.lock")

    assert {package: dev[package] for package in runtime} == runtime


@pytest.mark.parametrize(
    ("lock", "least"),
    [
        ("requirements.lock", 20),
        ("requirements-dev.lock", 60),
        ("requirements-node.lock", 1),
        ("requirements-uv.lock", 1),
    ],
)
def test_a_lock_names_a_hash_for_every_package_and_no_registry(lock: str, least: int) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    entries = re.findall(r"^[a-z].*(?:\n    --hash.*)*", text, re.MULTILINE)

    assert len(entries) >= least
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in text


def test_the_build_backend_is_locked_too() -> None:
    assert project()["build-system"]["requires"] == project()["dependency-groups"]["build"]


def make(*arguments: str, folder: Path = ROOT, path: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run make; with `path`, it finds programs there only."""
    program = shutil.which("make")
    if program is None:
        pytest.skip("make is not installed")
    env = None if path is None else {"PATH": path}
    return subprocess.run(
        [program, *arguments], cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=60
    )


def test_make_alone_lists_what_can_be_done() -> None:
    printed = make().stdout

    assert all(f"make {target} " in printed for target in ("install", "run", "test", "check", "bench", "lock", "clean"))


def test_make_run_passes_port_data_and_arguments_through() -> None:
    shown = make("--dry-run", "run", "PORT=8080", "DATA=/srv/my data", "ARGS=--no-rate-limits").stdout

    assert 'moothall serve --port "8080" --data "/srv/my data" --no-rate-limits' in shown


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A folder with the Makefile and a `bin` of programs that stand in for the machine's."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "bin").mkdir()
    return tmp_path


def pretend(bare: Path, name: str, script: str) -> None:
    """Put a program of that name on the machine."""
    program = bare / "bin" / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


OLD = "exit 1"
WITHOUT_VENV = 'case "$2" in *ensurepip*) exit 1;; esac'
GOOD = 'case "$1" in --version) echo "Python 3.12.1";; -m) /bin/mkdir -p .venv/bin; : > .venv/bin/python;; esac'


def test_without_a_python_the_error_says_what_is_needed(bare: Path) -> None:
    pretend(bare, "python3", OLD)

    done = make(".venv/bin/python", folder=bare, path=str(bare / "bin"))

    assert done.returncode != 0
    assert "Python 3.11 or later is needed" in done.stderr


def test_a_python_without_venv_is_named(bare: Path) -> None:
    pretend(bare, "python3.11", WITHOUT_VENV)

    done = make(".venv/bin/python", folder=bare, path=str(bare / "bin"))

    assert done.returncode != 0
    assert "python3.11 comes without venv" in done.stderr


def test_the_first_python_that_is_new_enough_is_taken(bare: Path) -> None:
    pretend(bare, "python3", OLD)
    pretend(bare, "python3.12", GOOD)

    done = make(".venv/bin/python", folder=bare, path=str(bare / "bin"))

    assert done.returncode == 0, done.stderr
    assert "Making .venv with Python 3.12.1 (python3.12)" in done.stdout
