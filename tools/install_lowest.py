"""Make an environment with the lowest version of every package that pyproject.toml allows: `install_lowest.py FOLDER`.

What Moothall requires itself is at the lowest, extras too; what those packages require in turn, and what only the tests
need, is as new as may be. uv resolves it (`make uv`), which pip cannot. Prints what is older than in the lock file.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
UV: Final = str(Path(sys.executable).with_name("uv"))
EXTRAS: Final = ("postgres", "nats", "yaml")


def versions(text: str) -> dict[str, str]:
    """The versions that the text of a lock file names, by package."""
    return dict(re.findall(r"^([a-z0-9-]+)==([^\s;\\]+)", text, re.MULTILINE))


def main(folder: Path) -> None:
    """Make the environment anew."""
    _uv("venv", "--quiet", "--clear", "--python", sys.executable, str(folder))
    lowest = folder / "lowest.txt"
    extras = [option for extra in EXTRAS for option in ("--extra", extra)]
    resolution = ["--resolution", "lowest-direct", "--python", str(folder / "bin" / "python")]
    _uv("pip", "compile", "--quiet", "pyproject.toml", *extras, *resolution, "--output-file", str(lowest))
    install = ["pip", "install", "--quiet", "--python", str(folder / "bin" / "python")]
    _uv(*install, "--requirement", str(lowest), "--group", "pyproject.toml:suite")
    _uv(*install, "--no-deps", "--editable", ".", "--editable", "packages/testing-py")
    locked = versions((ROOT / "requirements.lock").read_text(encoding="utf-8"))
    for name, version in versions(lowest.read_text(encoding="utf-8")).items():
        if locked.get(name, version) != version:
            print(f"{name} {version}, locked is {locked[name]}")


def _uv(*arguments: str) -> None:
    subprocess.run([UV, *arguments], cwd=ROOT, check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
