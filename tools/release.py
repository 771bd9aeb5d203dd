"""Prepare and build releases: `release.py version VERSION` and `release.py build [--key FILE] [--output FOLDER]`.

`version` sets the version of everything that carries one, moves the fragments of `changes/` into CHANGELOG.md, commits
and tags. `build` makes every package of a tagged commit, checks each in an empty environment, and writes the notes, the
checksums and, with a key of SSH, their signature. `check` refuses fragments whose name or text is wrong.
"""

import argparse
import contextlib
import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as pytest has it, when this runs as a script

from tools.build_dist import ROOT, DistError, build, build_testing, source_date_epoch

KINDS: Final = ("added", "changed", "fixed", "removed", "security")
_FRAGMENT: Final = re.compile(rf"[a-z0-9-]+\.({'|'.join(KINDS)})\.md")
_VERSION: Final = re.compile(r"\d+\.\d+\.\d+")
_CARRIERS: Final = (
    ("pyproject.toml", r'(?m)^version = "({})"$'),
    ("src/moothall/__init__.py", r'(?m)^__version__ = "({})"$'),
    ("web/package.json", r'(?m)^  "version": "({})",$'),
    ("packages/testing-py/pyproject.toml", r'(?m)^version = "({})"$'),
    ("packages/testing-py/src/moothall_testing/__init__.py", r'(?m)^__version__ = "({})"$'),
    ("packages/testing-js/package.json", r'(?m)^  "version": "({})",$'),
)
"""The files that carry the version, each with the pattern of its place."""
_LOCKS: Final = ("web/package-lock.json", "packages/testing-js/package-lock.json")
_NAMESPACE: Final = "moothall-release"
"""The namespace of signatures, which those who verify them name as well."""


class ReleaseError(Exception):
    """The release cannot be made. The message says why, and what to do."""


def fragment_errors(root: Path) -> list[str]:
    """What is wrong with the fragments in `changes/`."""
    errors = []
    for path in sorted((root / "changes").iterdir()):
        if path.name == "README.md":
            continue
        if not _FRAGMENT.fullmatch(path.name):
            errors.append(f"changes/{path.name}: name it NAME.KIND.md, KIND one of {', '.join(KINDS)}")
        elif not path.read_text(encoding="utf-8").strip():
            errors.append(f"changes/{path.name}: is empty")
    return errors


def section(root: Path, version: str, date: str) -> str:
    """The section of the changelog for a version, made of the fragments; without any it has no text."""
    lines = [f"## {version} - {date}", ""]
    for kind in KINDS:
        texts = [
            " ".join(path.read_text(encoding="utf-8").split())
            for path in sorted((root / "changes").glob(f"*.{kind}.md"))
        ]
        if texts:
            lines += [f"### {kind.capitalize()}", "", *map(_bullet, texts), ""]
    return "\n".join(lines)


def _bullet(text: str) -> str:
    lines, line = [], "-"
    for word in text.split():
        if len(line) + 1 + len(word) > 120:
            lines.append(line)
            line = " "
        line += f" {word}"
    return "\n".join([*lines, line])


def current_version(root: Path) -> str:
    """The version that the tree carries. Raises ReleaseError if its files name different ones."""
    versions = {}
    for name, pattern in _CARRIERS:
        match = re.search(pattern.format(_VERSION.pattern), (root / name).read_text(encoding="utf-8"))
        if match is None:
            raise ReleaseError(f"{name} carries no version")
        versions[name] = match[1]
    if len(set(versions.values())) != 1:
        raise ReleaseError(f"files carry different versions: {versions}")
    return versions["pyproject.toml"]


def set_version(root: Path, version: str) -> None:
    """Write a version into every file that carries one. Raises ReleaseError for one that is not newer."""
    before = current_version(root)
    if not _VERSION.fullmatch(version) or _numbers(version) <= _numbers(before):
        raise ReleaseError(f"{version} is no version after {before}")
    for name, pattern in _CARRIERS:
        path = root / name
        text = path.read_text(encoding="utf-8")
        match = re.search(pattern.format(re.escape(before)), text)
        if match is None:
            raise ReleaseError(f"{name} does not carry {before}")
        path.write_text(text[: match.start(1)] + version + text[match.end(1) :], encoding="utf-8")
    for name in _LOCKS:
        path = root / name
        lock = json.loads(path.read_text(encoding="utf-8"))
        lock["version"] = lock["packages"][""]["version"] = version
        path.write_text(json.dumps(lock, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def fold_fragments(root: Path, version: str, date: str) -> None:
    """Move the fragments into a section of the changelog. Raises ReleaseError without any, or with a wrong one."""
    if errors := fragment_errors(root):
        raise ReleaseError("\n".join(errors))
    fragments = [path for path in (root / "changes").iterdir() if path.name != "README.md"]
    if not fragments:
        raise ReleaseError("changes/ has no fragment: nothing is to be released")
    path = root / "CHANGELOG.md"
    head, mark, older = path.read_text(encoding="utf-8").partition("\n## ")
    path.write_text(head + "\n" + section(root, version, date) + mark + older, encoding="utf-8")
    for fragment in fragments:
        fragment.unlink()


def changelog_section(root: Path, version: str) -> str:
    """The notes of a release: its section of the changelog. Raises ReleaseError if it has none."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    match = re.search(rf"(?ms)^## {re.escape(version)} - .*?(?=^## |\Z)", text)
    if match is None:
        raise ReleaseError(f"CHANGELOG.md has no section for {version}")
    return match[0].rstrip() + "\n"


def write_checksums(folder: Path) -> Path:
    """Write SHA256SUMS of every file in a folder."""
    path = folder / "SHA256SUMS"
    files = sorted(each for each in folder.iterdir() if each.is_file() and not each.name.startswith("SHA256SUMS"))
    path.write_text("".join(f"{hashlib.sha256(each.read_bytes()).hexdigest()}  {each.name}\n" for each in files))
    return path


def sign(path: Path, key: Path) -> Path:
    """Sign a file with a private key of SSH; the signature stands beside it, as `.sig`."""
    _run("ssh-keygen", "-Y", "sign", "-q", "-n", _NAMESPACE, "-f", str(key), str(path))
    return path.with_name(f"{path.name}.sig")


def check_wheel(package: Path, version: str) -> None:
    """Install a wheel or an sdist into an empty environment and serve with it. Raises ReleaseError."""
    with tempfile.TemporaryDirectory(prefix="moothall-release-") as folder:
        environment = Path(folder) / "environment"
        _run(sys.executable, "-m", "venv", str(environment))
        python = str(environment / "bin" / "python")
        pip = (python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install")
        _run(*pip, "--require-hashes", "--requirement", str(ROOT / "requirements.lock"))
        if package.suffix == ".gz":
            _run(*pip, "--no-deps", "--no-build-isolation", str(package))
        else:
            _run(*pip, "--no-deps", str(package))
        program = str(environment / "bin" / "moothall")
        shown = _run(program, "--version").split()[-1]
        if shown != version:
            raise ReleaseError(f"{package.name} says that it is {shown}")
        _serve(program, Path(folder) / "data")


def check_testing(package: Path, version: str) -> None:
    """Install a wheel or an sdist of the plugin into an empty environment and load it. Raises ReleaseError."""
    with tempfile.TemporaryDirectory(prefix="moothall-release-") as folder:
        environment = Path(folder) / "environment"
        _run(sys.executable, "-m", "venv", str(environment))
        python = str(environment / "bin" / "python")
        _run(python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", str(package))
        shown = _run(python, "-c", "import moothall_testing as p; print(p.__version__)").strip()
        if shown != version:
            raise ReleaseError(f"{package.name} says that it is {shown}")


def _serve(program: str, data: Path) -> None:
    """Start a server and ask for its health. Raises ReleaseError if it has none within half a minute."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [program, "serve", "--no-demo", "--port", str(port), "--data", str(data)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as server:
        try:
            for _ in range(300):
                with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz") as answer:
                    if answer.status == 200:
                        return
                time.sleep(0.1)
            raise ReleaseError(f"a server of the package does not serve: {server.poll()}")
        finally:
            server.terminate()


def build_release(root: Path, output: Path, key: Path | None) -> list[Path]:
    """Build and check every package of the tagged commit, with notes, checksums and signature. Raises ReleaseError."""
    version = current_version(root)
    if _git(root, "status", "--porcelain"):
        raise ReleaseError("the tree has changes that are not committed")
    if f"v{version}" not in _git(root, "tag", "--points-at", "HEAD").split():
        raise ReleaseError(f"the commit is not tagged v{version}; run: make version VERSION={version}")
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    sdist, wheel = build(root, output)
    for package in (wheel, sdist):
        check_wheel(package, version)
    for package in build_testing(root, output):
        check_testing(package, version)
    if shutil.which("npm"):
        package = root / "packages" / "testing-js"
        # Its compiler: a fresh clone has none.
        _run("npm", "ci", "--silent", cwd=package)
        _run("npm", "pack", "--silent", "--pack-destination", str(output), cwd=package)
    if shutil.which("dpkg-deb"):
        _run(sys.executable, str(root / "tools" / "build_deb.py"), "--output", str(output))
    (output / "NOTES.md").write_text(changelog_section(root, version), encoding="utf-8")
    sums = write_checksums(output)
    if key is not None:
        sign(sums, key)
    return sorted(output.iterdir())


def prepare(root: Path, version: str) -> None:
    """Set the version, fold the fragments, commit and tag. Raises ReleaseError."""
    if _git(root, "status", "--porcelain"):
        raise ReleaseError("the tree has changes that are not committed")
    date = datetime.fromtimestamp(time.time(), UTC).date().isoformat()
    set_version(root, version)
    fold_fragments(root, version, date)
    _git(root, "commit", "--all", "--quiet", "--message", f"release: Release {version}")
    _git(root, "tag", "--annotate", "--message", f"Moothall {version}", f"v{version}")


def _git(root: Path, *arguments: str) -> str:
    return _run("git", "-C", str(root), *arguments)


def _run(*command: str, cwd: Path | None = None) -> str:
    """Run a program of which success is expected; what it prints. Raises ReleaseError."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, cwd=cwd, env=os.environ)
    if done.returncode:
        raise ReleaseError(f"{' '.join(command)} ends with {done.returncode}")
    return done.stdout


def main(arguments: Sequence[str]) -> int:
    """Do what the arguments say; returns the exit code."""
    parser = argparse.ArgumentParser(description="Prepare and build releases.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check", help="Refuse fragments whose name or text is wrong.")
    commands.add_parser("version", help="Set the version, fold the fragments, commit and tag.").add_argument("version")
    building = commands.add_parser("build", help="Build, check and sign the packages of the tagged commit.")
    building.add_argument("--key", type=Path, help="Private key of SSH to sign the checksums with.")
    building.add_argument("--output", type=Path, default=ROOT / "dist" / "release", help="Folder that is made anew.")
    options = parser.parse_args(arguments)
    try:
        if options.command == "check":
            if errors := fragment_errors(ROOT):
                raise ReleaseError("\n".join(errors))
            current_version(ROOT)
        elif options.command == "version":
            prepare(ROOT, options.version)
        else:
            os.environ["SOURCE_DATE_EPOCH"] = str(source_date_epoch(ROOT))
            print("\n".join(str(path) for path in build_release(ROOT, options.output, options.key)))
    except (ReleaseError, DistError) as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
