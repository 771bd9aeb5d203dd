"""Findings about the machine: the clock, folders, the disk, the key."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from moothall.app.services import server_key
from moothall.doctor import machine
from moothall.doctor.finding import Finding, Level
from moothall.settings import Settings


class Usage(NamedTuple):
    """What shutil.disk_usage returns."""

    total: int
    used: int
    free: int


def only(findings: Iterable[Finding]) -> Finding:
    """The one finding; each warning and error has an advice."""
    (finding,) = findings
    assert bool(finding.advice) == (finding.level in {Level.WARNING, Level.ERROR})
    return finding


def test_the_versions_are_told() -> None:
    assert "SQLite 3." in only(machine.check_python()).message


@pytest.mark.parametrize(("state", "level"), [(0, Level.OK), (5, Level.WARNING)])
def test_a_clock_that_nothing_keeps_right_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, state: int, level: Level
) -> None:
    monkeypatch.setattr(machine, "_clock_state", lambda: state)

    assert only(machine.check_clock()).level is level


def test_the_state_of_the_clock_is_that_of_the_kernel() -> None:
    assert machine._clock_state() in {None, 0, 1, 2, 3, 4, 5}


@pytest.mark.parametrize(("free", "level"), [(5 << 30, Level.OK), (500 << 20, Level.WARNING), (50 << 20, Level.ERROR)])
def test_a_disk_that_is_nearly_full_is_a_warning_and_then_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, free: int, level: Level
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Usage(10 << 30, 0, free))

    assert only(machine.check_disk(Settings(data=tmp_path / "not" / "yet"))).level is level


def test_a_data_folder_is_fine_before_the_first_start_and_as_the_server_makes_it(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data")
    assert only(machine.check_data_folder(settings)).level is Level.OK

    settings.data.mkdir(0o700)
    assert only(machine.check_data_folder(settings)).level is Level.OK


def test_a_data_folder_that_others_may_look_into_is_a_warning(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)

    finding = only(machine.check_data_folder(Settings(data=tmp_path)))

    assert (finding.level, finding.advice) == (Level.WARNING, f"Run: chmod o-rwx {tmp_path}")


def test_a_data_folder_that_cannot_be_used_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for data in (tmp_path / "file", tmp_path / "file" / "below"):
        assert only(machine.check_data_folder(Settings(data=data))).level is Level.ERROR
    monkeypatch.setattr(os, "access", lambda *_: False)
    for data in (tmp_path, tmp_path / "below"):
        finding = only(machine.check_data_folder(Settings(data=data)))
        assert finding.level is Level.ERROR
        assert "install -d -m 700" in finding.advice


def test_a_missing_key_is_an_error_once_there_is_a_database(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path)

    assert only(machine.check_key(settings, has_database=False)).level is Level.OK
    finding = only(machine.check_key(settings, has_database=True))
    assert finding.level is Level.ERROR
    assert "backup" in finding.advice
    assert not settings.key_path.exists()
    assert machine.existing_key(settings) is None


@pytest.mark.parametrize(
    ("mode", "level"), [(0o600, Level.OK), (0o640, Level.WARNING), (0o644, Level.ERROR), (0o606, Level.ERROR)]
)
def test_a_key_is_for_its_owner_only(tmp_path: Path, mode: int, level: Level) -> None:
    settings = Settings(data=tmp_path)
    server_key(settings)
    settings.key_path.chmod(mode)

    finding = only(machine.check_key(settings, has_database=True))

    assert finding.level is level
    if level is not Level.OK:
        assert finding.advice == f"Run: chmod 600 {settings.key_path}"
    assert (machine.existing_key(settings) is None) == (level is Level.ERROR)


def test_a_damaged_key_is_an_error(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path)
    settings.key_path.write_text("nonsense!")
    settings.key_path.chmod(0o600)

    assert only(machine.check_key(settings, has_database=True)).level is Level.ERROR


def test_a_key_in_the_settings_needs_no_file(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, secret_key="A" * 43 + "=")

    assert only(machine.check_key(settings, has_database=True)).level is Level.OK
    assert machine.existing_key(settings) is not None


def test_a_client_that_is_not_built_is_a_warning(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine, "CLIENT_FOLDER", tmp_path)
    assert only(machine.check_client()).level is Level.WARNING

    (tmp_path / "index.html").touch()
    assert only(machine.check_client()).level is Level.OK
