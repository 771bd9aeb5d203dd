"""Build a package for Debian and its descendants: `build_deb.py [--output FOLDER] [--python PROGRAM]`.

It has the wheel and the locked packages in /usr/lib/moothall, an environment of the distribution's own Python, whose
minor version it therefore depends on; a systemd unit, /etc/moothall.toml and /usr/bin/moothall. deploy/debian has the
files that it is made of.
"""

import argparse
import gzip
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as pytest has it, when this runs as a script

from tools.build_dist import ROOT, DistError, build, git, source_date_epoch

PARTS: Final = ROOT / "deploy" / "debian"
HOME: Final = Path("usr/lib/moothall")
REVISION: Final = 1
_PIP: Final = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "--python")
_INSTALL: Final = ("install", "--no-compile", "--no-warn-script-location")


def install_locked(python: Path, wheel: Path) -> None:
    """Install the locked packages and the wheel into the environment of `python`, and compile all modules."""
    pip = (*_PIP, str(python))
    _run(*pip, *_INSTALL, "--require-hashes", "--requirement", str(ROOT / "requirements.lock"))
    install_wheel(python, wheel)
    _run(*pip, "uninstall", "--yes", "flit_core")
    # Root replaces the modules together with what is compiled of them, so that neither has to be compared.
    environment = python.parents[1]
    options = ("-q", "-j", "0", "--invalidation-mode", "unchecked-hash", "-s", str(environment), "-p", f"/{HOME}")
    _run(str(python), "-m", "compileall", *options, str(environment / "lib"))


def install_wheel(python: Path, wheel: Path) -> None:
    """Install the wheel without its dependencies, by name, so that no path of this machine is noted down."""
    name = wheel.name.split("-")[0]
    _run(*_PIP, str(python), *_INSTALL, "--no-deps", "--no-index", "--find-links", str(wheel.parent), name)


def deb_version(root: Path, version: str) -> str:
    """The version of the package: the release's own for a tagged commit, else with the time of the commit.

    So packages of later commits are newer for apt, and older than the next release.
    """
    if not (root / ".git").exists() or f"v{version}" in git(root, "tag", "--points-at", "HEAD").split():
        return f"{version}-{REVISION}"
    committed = datetime.fromtimestamp(source_date_epoch(root), UTC)
    return f"{version}+git{committed:%Y%m%d%H%M%S}-{REVISION}"


def build_deb(
    wheel: Path,
    output: Path,
    *,
    python: str = "/usr/bin/python3",
    install: Callable[[Path, Path], None] = install_locked,
    compression: str = "xz",
) -> Path:
    """Build the package of a wheel into `output`. `install` fills the environment of the Python that it gets."""
    version = deb_version(ROOT, wheel.name.split("-")[1])
    architecture = _run("dpkg", "--print-architecture").strip()
    with tempfile.TemporaryDirectory(prefix="moothall-deb-") as folder:
        stage = Path(folder)
        stage.chmod(0o755)
        minor = _make_environment(stage / HOME, python, wheel, install)
        _copy_files(stage)
        _write_control(stage, version, architecture, minor)
        package = output / f"moothall_{version}_{architecture}.deb"
        _run("dpkg-deb", "--root-owner-group", f"-Z{compression}", "--build", str(stage), str(package))
    return package


def _make_environment(home: Path, python: str, wheel: Path, install: Callable[[Path, Path], None]) -> int:
    """Make the environment at `home`, with no program in it but Python; the minor version of Python."""
    _run(python, "-m", "venv", "--without-pip", "--symlinks", str(home))
    install(home / "bin" / "python3", wheel)
    for program in (home / "bin").iterdir():
        if not program.name.startswith("python"):
            program.unlink()  # names the folder in which it was made; /usr/bin/moothall stands for it
    config = home / "pyvenv.cfg"
    kept = [line for line in config.read_text().splitlines() if not line.startswith("command")]
    config.write_text("\n".join(kept) + "\n")
    return int(_run(python, "-c", "import sys; print(sys.version_info.minor)"))


def _copy_files(stage: Path) -> None:
    """Add what is outside of the environment."""
    for name, target, mode in (
        ("moothall.sh", "usr/bin/moothall", 0o755),
        ("moothall.toml", "etc/moothall.toml", 0o644),
        ("moothall.service", "lib/systemd/system/moothall.service", 0o644),
        ("copyright", "usr/share/doc/moothall/copyright", 0o644),
    ):
        _copy(PARTS / name, stage / target, mode)
    documents = stage / "usr/share/doc/moothall"
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        _copy(page, documents / page.name, 0o644)
    (documents / "changelog.gz").write_bytes(gzip.compress((ROOT / "CHANGELOG.md").read_bytes(), mtime=0))


def _write_control(stage: Path, version: str, architecture: str, minor: int) -> None:
    """Write the package's own description, its scripts and the checksums of its files."""
    files = sorted(path for path in stage.rglob("*") if path.is_file() and not path.is_symlink())
    values = {
        "VERSION": version,
        "ARCHITECTURE": architecture,
        "MAINTAINER": f"{os.environ.get('DEBFULLNAME', 'Moothall')} <{os.environ.get('DEBEMAIL', 'root@localhost')}>",
        "SIZE": str(sum(path.stat().st_size + 1023 for path in files) // 1024),
        "PYTHON": f"3.{minor}",
        "NEXT_PYTHON": f"3.{minor + 1}~",
    }
    text = (PARTS / "control").read_text()
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    own = stage / "DEBIAN"
    own.mkdir()
    (own / "control").write_text(text)
    (own / "conffiles").write_text("/etc/moothall.toml\n")
    sums = (
        f"{hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()}  {path.relative_to(stage)}\n"
        for path in files
    )
    (own / "md5sums").write_text("".join(sums))
    for script in ("postinst", "prerm", "postrm"):
        _copy(PARTS / script, own / script, 0o755)


def _copy(origin: Path, target: Path, mode: int) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(origin, target)
    target.chmod(mode)


def _run(*command: str) -> str:
    """Run a program of which success is expected; what it prints."""
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def main(arguments: Sequence[str]) -> int:
    """Build as the arguments say; returns the exit code."""
    parser = argparse.ArgumentParser(description="Build a package for Debian.")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="Folder that it is written to.")
    parser.add_argument("--python", default="/usr/bin/python3", help="The Python that the packaged program runs on.")
    options = parser.parse_args(arguments)
    if shutil.which("dpkg-deb") is None:
        print("deb: there is no dpkg-deb: build on Debian, Ubuntu or the like", file=sys.stderr)
        return 1
    os.umask(0o022)
    os.environ["SOURCE_DATE_EPOCH"] = str(source_date_epoch(ROOT))
    options.output.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix="moothall-wheel-") as folder:
            _, wheel = build(ROOT, Path(folder))
            print(build_deb(wheel, options.output.resolve(), python=options.python))
    except DistError as error:
        print(f"deb: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
