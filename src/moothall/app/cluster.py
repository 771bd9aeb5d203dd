"""What the processes of one machine share: memory and sockets, made by their supervisor before it forks them."""

import shutil
import socket
import tempfile
from pathlib import Path

from msgspec import Struct

from moothall.api.shared_windows import ProcessWindows, SharedWindows
from moothall.app.voice_process import VoiceSocket
from moothall.storage.sqlite.commit_counters import CommitCounters


class WorkerCluster:
    """The memory and the sockets of one process that writes and of `workers` others.

    The sockets lie in a folder of this user alone. They listen from now on, so that connections wait while the process
    that writes is starting again.
    """

    def __init__(self, workers: int) -> None:
        self.commits = CommitCounters()
        self.windows = SharedWindows(workers + 1)
        self.folder = Path(tempfile.mkdtemp(prefix="moothall-"))
        self.requests_path = self.folder / "requests"
        self.events_path = self.folder / "events"
        self.handovers = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(workers + 1)]
        """The sockets over which each process gets connections from others: their end and its own."""
        self.voice = VoiceSocket(self.folder)
        self.requests = _listen(self.requests_path)
        self.events = _listen(self.events_path)

    def remove(self) -> None:
        """Close the sockets and delete the folder."""
        self.requests.close()
        self.events.close()
        for pair in self.handovers:
            for end in pair:
                end.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class ClusterRole(Struct, frozen=True):
    """Which process of a cluster this one is: number 0 writes, the others are workers."""

    cluster: WorkerCluster
    number: int

    @property
    def writes(self) -> bool:
        """Whether this is the process that writes."""
        return self.number == 0

    @property
    def windows(self) -> ProcessWindows:
        """The rate limits that this process counts."""
        return ProcessWindows(self.cluster.windows, self.number)


def _listen(path: Path) -> socket.socket:
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(str(path))
    path.chmod(0o600)
    listening.listen(1024)
    return listening
