"""The voice processes of a server."""

from pathlib import Path

from tests.support.serving import RunningServer


def voice_processes(server: RunningServer) -> list[int]:
    """The ids of the voice processes that a server has started."""
    pid = server.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return [int(each) for each in children if b"voice" in Path(f"/proc/{each}/cmdline").read_bytes().split(b"\0")]
