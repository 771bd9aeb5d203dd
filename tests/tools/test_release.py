"""Releases: fragments become the changelog, every file carries one version, checksums are signed."""

import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tools import build_deb, release
from tools.build_dist import ROOT
from tools.release import ReleaseError


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The files of this project that a release changes, in a repository of their own."""
    for name in (*(name for name, _ in release._CARRIERS), *release._LOCKS):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\nAll of it.\n\n## 0.0.1 - 2020-01-01\n\nThe first.\n")
    (tmp_path / "changes").mkdir()
    (tmp_path / "changes" / "README.md").write_text("How.\n")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "config", "user.name", "A")
    git(tmp_path, "config", "user.email", "a@example.org")
    commit(tmp_path)
    return tmp_path


def git(tree: Path, *arguments: str) -> str:
    return subprocess.run(("git", "-C", str(tree), *arguments), capture_output=True, text=True, check=True).stdout


def commit(tree: Path) -> None:
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--message", "test: Commit")


def write(tree: Path, name: str, text: str) -> None:
    (tree / "changes" / name).write_text(text)


def test_this_tree_carries_one_version_and_its_fragments_are_right() -> None:
    assert release.current_version(ROOT)
    assert release.fragment_errors(ROOT) == []


def test_fragments_become_a_section_by_kind_and_are_gone(tree: Path) -> None:
    write(tree, "bots.fixed.md", "Bots of\ndiscordgo are let in.\n")
    write(tree, "mail.added.md", "Mail. " + "word " * 60)
    commit(tree)
    release.prepare(tree, "99.0.0")
    today = datetime.now(UTC).date().isoformat()
    text = (tree / "CHANGELOG.md").read_text()
    assert text.startswith(f"# Changelog\n\nAll of it.\n\n## 99.0.0 - {today}\n\n### Added\n\n- Mail. word")
    assert "### Fixed\n\n- Bots of discordgo are let in.\n\n## 0.0.1 - 2020-01-01\n" in text
    assert max(map(len, text.splitlines())) <= 120
    assert [path.name for path in (tree / "changes").iterdir()] == ["README.md"]
    assert release.changelog_section(tree, "0.0.1") == "## 0.0.1 - 2020-01-01\n\nThe first.\n"
    assert release.changelog_section(tree, "99.0.0").endswith("- Bots of discordgo are let in.\n")


def test_a_release_sets_every_version_commits_and_tags(tree: Path) -> None:
    write(tree, "mail.added.md", "Mail.")
    commit(tree)
    release.prepare(tree, "99.0.0")
    assert release.current_version(tree) == "99.0.0"
    assert '"version": "99.0.0"' in (tree / "web" / "package-lock.json").read_text()
    assert git(tree, "status", "--porcelain") == ""
    assert git(tree, "tag", "--points-at", "HEAD").split() == ["v99.0.0"]


@pytest.mark.parametrize("version", ["0.0.1", "1", "99.0", "99.0.0rc1", "v99.0.0"])
def test_a_version_that_is_not_newer_changes_nothing(tree: Path, version: str) -> None:
    write(tree, "mail.added.md", "Mail.")
    commit(tree)
    with pytest.raises(ReleaseError):
        release.prepare(tree, version)
    assert git(tree, "status", "--porcelain") == ""


@pytest.mark.parametrize(("name", "text"), [("mail.md", "Mail."), ("mail.news.md", "Mail."), ("mail.added.md", " \n")])
def test_a_fragment_of_another_name_or_without_text_is_refused(tree: Path, name: str, text: str) -> None:
    write(tree, name, text)
    assert len(release.fragment_errors(tree)) == 1
    with pytest.raises(ReleaseError):
        release.fold_fragments(tree, "99.0.0", "2026-01-01")
    assert "99.0.0" not in (tree / "CHANGELOG.md").read_text()


def test_files_that_carry_different_versions_are_refused(tree: Path) -> None:
    path = tree / "web" / "package.json"
    path.write_text(path.read_text().replace(release.current_version(tree), "98.0.0", 1))
    with pytest.raises(ReleaseError, match="different versions"):
        release.current_version(tree)


def test_only_a_clean_tree_with_the_tag_of_its_version_is_built(tree: Path, tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="not tagged"):
        release.build_release(tree, tmp_path / "out", None)
    (tree / "new").write_text("x")
    with pytest.raises(ReleaseError, match="not committed"):
        release.build_release(tree, tmp_path / "out", None)
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
def test_the_public_key_verifies_the_checksums(tmp_path: Path) -> None:
    key, folder = tmp_path / "key", tmp_path / "dist"
    subprocess.run(("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)), check=True)
    folder.mkdir()
    (folder / "a.whl").write_bytes(b"wheel")
    sums = release.write_checksums(folder)
    signature = release.sign(sums, key)
    allowed = tmp_path / "allowed"
    allowed.write_text("release " + (tmp_path / "key.pub").read_text())
    verify = ["ssh-keygen", "-Y", "verify", "-n", "moothall-release", "-f", str(allowed), "-I", "release"]
    verify += ["-s", str(signature)]
    assert subprocess.run(verify, input=sums.read_bytes(), capture_output=True, check=False).returncode == 0
    forged = sums.read_bytes().replace(b"a.whl", b"b.whl")
    assert subprocess.run(verify, input=forged, capture_output=True, check=False).returncode != 0


def test_packages_of_later_commits_are_newer_for_apt(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    between = build_deb.deb_version(tree, "0.2.0")
    assert between.startswith("0.2.0+git2")
    assert between.endswith("-1")
    git(tree, "tag", "v0.2.0")
    assert build_deb.deb_version(tree, "0.2.0") == "0.2.0-1"
