"""Ending the test server's process."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

_SERVE: Final = """
from pathlib import Path
from moothall.cli import main
from moothall.test_server import running
running._MEMORY = Path("/none")
main()
"""
"""Runs the command line; the server's folder is where the environment has temporary files."""


def test_a_server_that_is_ended_while_it_starts_deletes_its_folder(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _SERVE, "test-server", "--json"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob("moothall-test-*")):
            assert time.monotonic() < deadline
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert process.returncode == 0
    assert list(tmp_path.iterdir()) == []
