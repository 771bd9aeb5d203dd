"""Where the platform is: a server that runs, or the command that starts one."""

import importlib.util
import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

SERVER_VARIABLE: Final = "MOOTHALL_TEST_SERVER"
"""The environment variable with the URL of a test server that runs already."""
_PACKAGE: Final = "moothall"
_HELP: Final = f"""the tests need Moothall, and there is none. One of these helps:
  pip install moothall              (in this environment, or in any other whose programs are on the PATH)
  pip install uv                    (then it is installed into an environment of its own; pipx does the same)
  MOOTHALL_COMMAND="..."            (a command that runs moothall)
  MOOTHALL_IMAGE="..."              (an image of it, run by podman or docker)
  {SERVER_VARIABLE}="http://..."  (`moothall test-server` on this machine)"""


class PlatformMissing(RuntimeError):
    """Moothall is not installed and cannot be fetched. The message says what helps."""


def server_url(environment: Mapping[str, str] | None = None) -> str | None:
    """The URL of a test server that runs already, if the environment names one."""
    variables = os.environ if environment is None else environment
    return (variables.get(SERVER_VARIABLE) or "").rstrip("/") or None


def find_command(environment: Mapping[str, str] | None = None, *, file: Path | None = None) -> list[str]:
    """The command that runs `moothall`, and can read a file; its arguments follow it.

    That is MOOTHALL_COMMAND, an image that MOOTHALL_IMAGE names, the package of this environment, a program on the
    PATH, or what uv or pipx installs: the package, or what MOOTHALL_PACKAGE names instead (a path or a version).
    Raises PlatformMissing.
    """
    variables = os.environ if environment is None else environment
    path = variables.get("PATH")
    if command := shlex.split(variables.get("MOOTHALL_COMMAND", "")):
        return command
    if image := variables.get("MOOTHALL_IMAGE"):
        return _container(image, path, file)
    if importlib.util.find_spec("moothall") is not None:
        return [sys.executable, "-m", "moothall"]
    if program := shutil.which("moothall", path=path):
        return [program]
    package = variables.get("MOOTHALL_PACKAGE", _PACKAGE)
    if program := shutil.which("uvx", path=path):
        return [program, "--quiet", "--from", package, "moothall"]
    if program := shutil.which("pipx", path=path):
        return [program, "run", "--spec", package, "moothall"]
    raise PlatformMissing(_HELP)


def _container(image: str, path: str | None, file: Path | None) -> list[str]:
    """The command of a container in the network of this machine, where the control API answers."""
    for name in ("podman", "docker"):
        if program := shutil.which(name, path=path):
            mounts = [] if file is None else [f"--volume={file.resolve()}:{file}:ro"]
            return [program, "run", "--rm", "--interactive", "--network=host", "--tmpfs=/tmp", *mounts, image]
    raise PlatformMissing("MOOTHALL_IMAGE names an image, but neither podman nor docker is there to run it")
