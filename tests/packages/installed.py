"""The packages that `make dist` makes, and an environment that has nothing of Moothall but the wheel."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Final

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
    (sdist,), (wheel,) = output.glob("*.tar.gz"), output.glob("*.whl")
    return sdist, wheel


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
