"""Install the packages of a lock file: `install_packages.py LOCK [--target FOLDER]`.

They are installed into the environment that runs this, or into a folder. uv does it where the environment has uv
(`make uv`), in a sixth of pip's time. It does not read pip's settings, such as mirrors and constraints, so pip does it
where uv cannot. Either refuses packages whose hashes the lock file does not have.
"""

import subprocess
import sys
from pathlib import Path

UV = Path(sys.executable).with_name("uv")
"""The program, where the environment has it."""


def commands(lock: str, target: str | None) -> list[list[str]]:
    """The commands to try, in order."""
    uv = [str(UV), "pip", "install", "--quiet", "--python", sys.executable]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    what = ["--require-hashes", "--requirement", lock]
    if target is not None:
        return [[*uv, "--target", target, *what], [*pip, "--upgrade", "--target", target, *what]][not UV.exists() :]
    # Servers start faster with compiled packages. pip compiles what it installs.
    return [[*uv, "--compile-bytecode", *what], [*pip, *what]][not UV.exists() :]


def main(arguments: list[str]) -> int:
    """Install as the arguments say; returns the exit code."""
    lock, target = arguments[0], arguments[2] if arguments[1:2] == ["--target"] else None
    *first, last = commands(lock, target)
    if any(subprocess.run(command, capture_output=True, check=False).returncode == 0 for command in first):
        return 0
    return subprocess.run(last, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
