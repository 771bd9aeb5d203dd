"""`make dev`: a server that is started again when its code changes, and the client with hot reload where there is npm.

Both end with this program. The arguments are those of `moothall serve`; `--no-client` before them leaves the client
out.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
_LOOK_SECONDS = 0.5
_SUFFIXES = frozenset({".py", ".html", ".css", ".mo"})


def _versions() -> dict[Path, float]:
    """When each file of the server was changed last."""
    return {path: changed for path in (ROOT / "src").rglob("*") for changed in _changed(path)}


def _changed(path: Path) -> Iterator[float]:
    if path.suffix in _SUFFIXES and "client" not in path.parts:
        # Editors replace files, so that one may be gone by now.
        try:
            yield path.stat().st_mtime
        except FileNotFoundError:
            return


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process and those that it has started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
        process.wait()


def _start_client(arguments: list[str]) -> "subprocess.Popen[bytes] | None":
    vite = ROOT / "web/node_modules/.bin/vite"
    if not shutil.which("node") or not vite.exists():
        return None
    port = arguments[arguments.index("--port") + 1] if "--port" in arguments else "3333"
    environment = {**os.environ, "MOOTHALL_URL": f"http://localhost:{port}"}
    return subprocess.Popen([vite], cwd=ROOT / "web", env=environment, start_new_session=True)


def main(arguments: list[str]) -> None:
    """Run both until interrupted or terminated."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    leave_out = arguments[:1] == ["--no-client"]
    arguments = arguments[1:] if leave_out else arguments
    command = [sys.executable, "-m", "moothall", "serve", *arguments]
    client = None if leave_out else _start_client(arguments)
    server = subprocess.Popen(command, start_new_session=True)
    try:
        versions = _versions()
        while True:
            time.sleep(_LOOK_SECONDS)
            now = _versions()
            if now != versions:
                versions = now
                _end(server)
                server = subprocess.Popen(command, start_new_session=True)
    except KeyboardInterrupt:
        pass
    finally:
        _end(server)
        if client is not None:
            _end(client)


if __name__ == "__main__":
    main(sys.argv[1:])
