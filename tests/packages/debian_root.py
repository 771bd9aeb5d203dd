"""A root file system to install Debian packages in: this machine's, whose changes are kept apart and forgotten."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Final, Self

import pytest

DEPENDENCIES: Final = "/opt/dependencies"
"""Where the packages of the tests' environment are in the root file system."""
NEEDED: Final = ("python3", "adduser", "init-system-helpers", "util-linux", "libstdc++6")
_SETUP: Final = f"""
set -e
mount -t tmpfs tmpfs "$0"
mkdir "$0/changes" "$0/work" "$0/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$0/changes,workdir=$0/work" "$0/root"
mount -t tmpfs tmpfs "$0/root/run"
mount -t tmpfs -o mode=1777 tmpfs "$0/root/tmp"
mount --rbind /dev "$0/root/dev"
mount --rbind /proc "$0/root/proc"
mkdir -p "$0/root{DEPENDENCIES}"
mount --bind "$1" "$0/root{DEPENDENCIES}"
mount -o remount,bind,ro "$0/root{DEPENDENCIES}"
echo ready
exec cat
"""


def require_debian() -> None:
    """Skip the running test where no Debian package can be built."""
    if shutil.which("dpkg-deb") is None or not Path("/usr/bin/python3").exists():
        pytest.skip("this is no Debian")


class DebianRoot:
    """A mount namespace with the root file system at `folder`/root, which ends with the block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> Self:
        require_debian()
        minor = [sys.executable, "/usr/bin/python3"]
        versions = {subprocess.check_output([each, "-c", "import sys; print(sys.version_info[:2])"]) for each in minor}
        known = subprocess.run(["dpkg", "--status", *NEEDED], capture_output=True, check=False).returncode == 0
        if os.geteuid() != 0 or len(versions) != 1 or not known:
            pytest.skip("this needs root, and the distribution's own Python in the version that runs the tests")
        self._process = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", _SETUP, str(self._folder), sysconfig.get_path("purelib")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        if self._process.stdout.readline() != "ready\n":
            _, errors = self._process.communicate()
            pytest.skip(f"no root file system of its own: {errors}")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    @property
    def path(self) -> Path:
        """The root file system, as this process sees it."""
        return Path(f"/proc/{self._process.pid}/root{self._folder}/root")

    @property
    def enter(self) -> tuple[str, ...]:
        """A command that runs another one in it."""
        clean = ("env", "-i", "LC_ALL=C.UTF-8", "PATH=/usr/sbin:/usr/bin:/sbin:/bin")
        return ("nsenter", f"--target={self._process.pid}", "--mount", "chroot", f"{self._folder}/root", *clean)

    def run(self, *command: str) -> str:
        """Run a command, which must succeed; what it prints."""
        done = subprocess.run([*self.enter, *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout
