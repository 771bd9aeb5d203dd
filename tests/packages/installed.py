"""The packages that `make dist` makes, and an environment that has nothing of Moothall but the wheel."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Final

import pytest

from tests.support.serving import RunningServer
from tests.support.suites import leave_out

ROOT: Final = Path(__file__).parents[2]
_EPOCH: Final = "1767225600"
_WITHOUT_PATHS: Final = ("env", "-u", "PYTHONPATH")


def build_dist(tree: Path, output: Path, *, client: bool) -> tuple[Path, Path]:
    """Build the sdist and the wheel of a tree, all files dated 2026."""
    command = [sys.executable, str(tree / "tools" / "build_dist.py"), "--output", str(output)]
    done = subprocess.run(
        command if client else [*command, "--without-client"],
        env=os.environ | {"SOURCE_DATE_EPOCH": _EPOCH},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (sdist,), (wheel,) = output.glob("moothall-*.tar.gz"), output.glob("moothall-*.whl")
    return sdist, wheel


class Uv:
    """uv in a folder, with a cache that it fills once, however many environments it makes."""

    def __init__(self, folder: Path) -> None:
        self.programs = folder / "bin"
        self.options = ("--no-config", "--cache-dir", str(folder / "cache"))
        self.variables = {"UV_NO_CONFIG": "1", "UV_CACHE_DIR": self.options[-1]}

    @staticmethod
    def fetch(folder: Path) -> None:
        """Put uv into a folder: that of the tests' environment, if it has one (`make uv`).

        Skips the running test where pip must fetch it and reaches no registry.
        """
        own = [Path(sys.executable).with_name(name) for name in ("uv", "uvx")]
        if all(program.exists() for program in own):
            (folder / "bin").mkdir()
            for program in own:
                shutil.copy(program, folder / "bin")
            return
        pip = [sys.executable, "-m", "pip", "--quiet", "install", "--no-compile", "--target", str(folder), "uv"]
        _run_or_skip([*_WITHOUT_PATHS, *pip])

    def install(self, python: Path, *arguments: str) -> None:
        """Install packages for a Python in a sixth of pip's time.

        pip does it where uv cannot, which does not know pip's mirrors. Skips the running test where neither can.
        """
        uv = [str(self.programs / "uv"), *self.options, "pip", "install", "--quiet", "--python", str(python)]
        pip = [sys.executable, "-m", "pip", "--quiet", "--python", str(python), "install", "--no-compile"]
        if subprocess.run([*_WITHOUT_PATHS, *uv, *arguments], capture_output=True, check=False).returncode != 0:
            _run_or_skip([*_WITHOUT_PATHS, *pip, *arguments])


def _run_or_skip(pip: list[str]) -> None:
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"pip cannot fetch the packages: {done.stderr.splitlines()[-1]}")


def install_clean(uv: Uv, wheel: Path, folder: Path) -> None:
    """Install the locked packages and the wheel into a new environment."""
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    uv.install(python, "--require-hashes", "--requirement", str(ROOT / "requirements.lock"))
    uv.install(python, "--no-deps", "--no-index", str(wheel))
    assert (folder / "bin" / "moothall").exists()


def check_served(server: RunningServer, token: str, *, has_client: bool) -> None:
    """Fetch what comes from files of the package: a page, a sound, the client's build."""
    assert server.request("GET", "/gateway").json["url"].startswith("ws://")
    assert b"<form" in server.fetch("/login")  # a template
    sound = server.request("GET", "/soundboard-default-sounds", token=token).json[0]["sound_id"]
    assert server.fetch(f"/soundboard-sounds/{sound}").startswith(b"OggS")
    if not has_client:
        leave_out("web-client", "the client's build is missing or old: make client")
    scripts = re.findall(r'src="(/app/assets/[^"]+\.js)"', server.fetch("/app/").decode())
    assert scripts
    assert all(len(server.fetch(script)) > 1000 for script in scripts)


def install_wheel(wheel: Path, folder: Path) -> tuple[str, ...]:
    """Install the wheel into a new environment; the command that runs `moothall` there.

    Its dependencies are those of the tests' environment, which the lock file names. It is named in a .pth file, so
    that its own .pth files count for nothing: the source tree of an editable installation is not on the path.
    """
    venv.create(folder, with_pip=False)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--quiet",
        "--python",
        str(folder / "bin/python"),
    ]
    install = [*pip, "install", "--no-deps", "--no-index", "--no-compile", str(wheel)]
    subprocess.run([*_WITHOUT_PATHS, *install], check=True)
    packages = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return *_WITHOUT_PATHS, str(folder / "bin" / "moothall")
