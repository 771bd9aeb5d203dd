"""Build the sdists and the wheels reproducibly: `build_dist.py [--output FOLDER] [--without-client]`.

The same commit gives the same bytes: files are those that git tracks (elsewhere, of an unpacked sdist, all of them),
the client's build and the compiled statements; their times are SOURCE_DATE_EPOCH, by default the time of the last
commit. The server's wheel is built from its sdist, so the sdist has everything that it needs. The plugin that tests
bots is a package of its own. Prints the SHA-256 and name of each file.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Final

from flit_core import buildapi

ROOT: Final = Path(__file__).resolve().parents[1]
CLIENT: Final = Path("src/moothall/pages/client")
"""The client's build, which git ignores and which every package carries."""
DOCUMENTATION: Final = Path("src/moothall/pages/documentation")
"""The site of the documentation, which git ignores and which packages carry where `make docs` has built it."""
STATEMENTS: Final = Path("src/moothall/storage/statements/compiled_*")
"""The compiled statements, which git ignores and which every package carries."""
TESTING: Final = Path("packages/testing-py")
_MADE: Final = {"node_modules", "site", "__pycache__"}
_MADE_AT_TOP: Final = {"dist", "build", "data"}
"""Folders that tools and the program make, in a tree without git."""


class DistError(Exception):
    """The packages cannot be built. The message says why, and what to do."""


def source_date_epoch(root: Path) -> int:
    """SOURCE_DATE_EPOCH, else the time of the last commit, else that of pyproject.toml, which an sdist sets."""
    if value := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(value)
    if committed := git(root, "log", "-1", "--format=%ct"):
        return int(committed)
    return int((root / "pyproject.toml").stat().st_mtime)


def sources(root: Path) -> Iterator[Path]:
    """The source files, relative to `root`, without the client's build."""
    listed = git(root, "ls-files", "-z")
    if listed:
        yield from (path for path in map(Path, listed.rstrip("\0").split("\0")) if (root / path).is_file())
        return
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        top = relative.parts[0]
        made = (
            top in _MADE_AT_TOP
            or top.startswith(".")
            or _MADE & set(relative.parts)
            or {CLIENT, DOCUMENTATION} & set(relative.parents)
        )
        if path.is_file() and not made:
            yield relative


def git(root: Path, *arguments: str) -> str:
    """What git prints; empty if `root` is not the top of a working tree, or there is no git."""
    if not (root / ".git").exists() or shutil.which("git") is None:
        return ""
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.removesuffix("\n")


def build(root: Path, output: Path, *, client: bool = True) -> list[Path]:
    """Build the sdist and the wheel of the tree at `root` into `output`. Raises DistError.

    Sets SOURCE_DATE_EPOCH, which the build backend reads, and the working directory while it runs.
    """
    output = output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    os.environ["SOURCE_DATE_EPOCH"] = str(source_date_epoch(root))
    with tempfile.TemporaryDirectory(prefix="moothall-dist-") as folder:
        tree = Path(folder) / "tree"
        for path in sources(root):
            _copy(root, tree, path)
        if client:
            _copy_client(root, tree)
        _copy_folder(root, tree, DOCUMENTATION)
        _compile_statements(root, tree)
        with chdir(tree):
            sdist = output / buildapi.build_sdist(str(output))
        with tarfile.open(sdist) as archive:
            # Python has it since 3.11.4, and as an argument warns without it.
            archive.extraction_filter = getattr(tarfile, "data_filter", None)
            archive.extractall(folder)  # noqa: S202 made above
        with chdir(Path(folder) / sdist.name.removesuffix(".tar.gz")):
            wheel = output / buildapi.build_wheel(str(output))
    for built in (sdist, wheel):
        built.chmod(0o644)
    return [sdist, wheel]


def build_testing(root: Path, output: Path) -> list[Path]:
    """Build the sdist and the wheel of the plugin that tests bots into `output`.

    Sets SOURCE_DATE_EPOCH and the working directory, as `build` does.
    """
    output = output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    os.environ["SOURCE_DATE_EPOCH"] = str(source_date_epoch(root))
    with tempfile.TemporaryDirectory(prefix="moothall-dist-") as folder:
        for path in sources(root):
            if path.is_relative_to(TESTING):
                _copy(root, Path(folder), path)
        with chdir(Path(folder) / TESTING):
            built = [output / buildapi.build_sdist(str(output)), output / buildapi.build_wheel(str(output))]
    for path in built:
        path.chmod(0o644)
    return built


def client_is_current(root: Path) -> bool:
    """Whether the client's build was made from the sources of this tree."""
    script = [sys.executable, str(root / "tools" / "build_client.py"), "--is-current"]
    return subprocess.run(script, check=False).returncode == 0


def _copy_client(root: Path, tree: Path) -> None:
    """Add the client's build. Raises DistError if there is none, or an older one."""
    if not client_is_current(root):
        raise DistError("the client's build is missing or old; run: make client (or leave it out: make dist CLIENT=no)")
    _copy_folder(root, tree, CLIENT)


def _copy_folder(root: Path, tree: Path, folder: Path) -> None:
    for path in sorted((root / folder).rglob("*")):
        if path.is_file():
            _copy(root, tree, path.relative_to(root))


def _compile_statements(root: Path, tree: Path) -> None:
    """Add the compiled statements: those of the sources in `tree`, which are copied from `root` where it has them."""
    for path in (root / STATEMENTS).parent.glob(STATEMENTS.name):
        _copy(root, tree, path.relative_to(root))
    command = [sys.executable, str(tree / "tools" / "compile_statements.py"), "--if-changed"]
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(command, env=environment, check=True)


def _copy(root: Path, tree: Path, path: Path) -> None:
    (tree / path).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(root / path, tree / path)


def main(arguments: Sequence[str]) -> int:
    """Build as the arguments say; returns the exit code."""
    parser = argparse.ArgumentParser(description="Build the sdists and the wheels.")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="Folder that they are written to.")
    parser.add_argument("--without-client", action="store_true", help="Leave out the client for people.")
    options = parser.parse_args(arguments)
    try:
        built = build(ROOT, options.output, client=not options.without_client) + build_testing(ROOT, options.output)
    except DistError as error:
        print(f"dist: {error}", file=sys.stderr)
        return 1
    for path in built:
        print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
