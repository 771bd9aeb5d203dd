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


_SERVE_AFTER_IGNORED_SIGNAL: Final = """
import os
import signal
import weakref
from moothall.cli import main
from moothall.test_server import running

class Folder:
    pass

def send_signal(_):
    os.kill(os.getpid(), signal.SIGTERM)

data_folder = running.data_folder

def data_folder_with_signal():
    folder = Folder()
    reference = weakref.ref(folder, send_signal)
    del folder
    return data_folder()

running.data_folder = data_folder_with_signal
main()
"""
"""Runs the command line; the signal comes while Python runs a callback of which it ignores errors."""


def test_a_signal_that_comes_while_python_ignores_errors_ends_the_server_all_the_same(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _SERVE_AFTER_IGNORED_SIGNAL, "test-server", "--json"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert "Exception ignored" in ended.stderr
    assert ended.stdout == ""
    assert ended.returncode == 0


def test_a_server_that_is_ended_while_it_starts_deletes_its_folder(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _SERVE, "test-server", "--json"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob("moothall-test-*")):
            assert time.monotonic() < deadline
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0
    assert list(tmp_path.iterdir()) == []
