"""Node, with the clients that the suite drives a server with."""

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent.parent / "clients" / "node"


def require_node() -> str:
    """Node with discord.js beside the laws, installed from the lock where it is missing; else the test is skipped."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None:
        pytest.skip("Node is not installed")
    if int(subprocess.check_output([node, "--version"], text=True).lstrip("v").split(".")[0]) < 20:
        pytest.skip("Node is older than 20")
    installed_lock, lock = HERE / "node_modules" / ".package-lock.json", HERE / "package-lock.json"
    if not installed_lock.is_file() or installed_lock.stat().st_mtime < lock.stat().st_mtime:
        installed = npm is not None and subprocess.run(
            [npm, "ci"], cwd=HERE, capture_output=True, timeout=90, check=False
        )
        if not installed or installed.returncode:
            pytest.skip(f"discord.js cannot be installed: try `npm ci` in {HERE}")
    return node
