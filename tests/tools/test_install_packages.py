"""Locked packages are installed by uv where the environment has it and it can, else by pip, and only as locked."""

import sys
from pathlib import Path

import pytest

from tools import install_packages


@pytest.fixture
def uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the environment has in the place of uv: a program that a test writes."""
    monkeypatch.setattr(install_packages, "UV", tmp_path / "uv")
    return tmp_path / "uv"


def write_program(path: Path, script: str) -> None:
    """Write a program of the shell."""
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.mark.parametrize("target", [None, "site"])
def test_every_command_refuses_what_the_lock_does_not_have(uv: Path, target: str | None) -> None:
    write_program(uv, "exit 0")

    for command in install_packages.commands("x.lock", target):
        assert command[command.index("--require-hashes") + 1 :][:2] == ["--requirement", "x.lock"]
        assert ("--target" in command) == (target is not None)


def test_without_uv_pip_is_the_only_command(uv: Path) -> None:
    assert not uv.exists()
    (command,) = install_packages.commands("x.lock", None)

    assert command[:3] == [sys.executable, "-m", "pip"]


@pytest.mark.parametrize("uv_can", [True, False])
def test_pip_installs_what_uv_cannot(
    uv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, uv_can: bool
) -> None:
    tried = tmp_path / "tried"
    write_program(uv, f"echo uv >> {tried}; exit {0 if uv_can else 1}")
    write_program(tmp_path / "python", f"echo pip >> {tried}")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))

    assert install_packages.main(["x.lock", "--target", "site"]) == 0
    assert tried.read_text().split() == (["uv"] if uv_can else ["uv", "pip"])


def test_what_neither_can_install_is_a_failure(uv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_program(uv, "exit 1")
    write_program(tmp_path / "python", "exit 3")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))

    assert install_packages.main(["x.lock"]) == 3
