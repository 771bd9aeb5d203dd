"""The thread that commits, on the thread of the simulation.

`group_commit` starts one thread, which takes jobs from a queue. Here the queue calls the thread's function at a moment
of the seed after each job, and the function returns where the real one would wait. What it hands to the event loop
arrives later still, as after a slow sync.
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from unittest import mock

from moothall.storage.sqlite import group_commit
from tests.simulation.processes import ProcessLoop
from tests.simulation.randomness import Choices

_WAITS = "wait"
"""What a queue returns in place of waiting; it is no job, so the thread's function returns."""


class SimulatedCommits:
    """Makes the queues and threads of writers. Commits take `usual_seconds`, some up to `longest_seconds`."""

    def __init__(self, loop: ProcessLoop, choices: Choices) -> None:
        self._loop = loop
        self._choices = choices
        self._newest: _Queue | None = None
        self.usual_seconds = 0.002
        self.longest_seconds = 0.1

    def delay(self) -> float:
        """Half of how long a commit takes."""
        return self._choices.delay(self.usual_seconds / 2, self.longest_seconds / 2)

    def queue(self) -> "_Queue":
        """The queue of a writer, which makes it before its thread."""
        self._newest = _Queue(self)
        return self._newest

    def thread(self, *, target: Callable[[], None], **_: object) -> "_Thread":
        """The thread of the writer that made the newest queue."""
        if self._newest is None:
            raise RuntimeError("the writer has no queue")
        self._newest.work = target
        return _Thread()

    def run_later(self, work: Callable[[], None]) -> None:
        """Run work as a thread would; its calls of the loop arrive later."""
        self._loop.call_later(self.delay(), self._run, work)

    def _run(self, work: Callable[[], None]) -> None:
        with self._loop.on_thread(self.delay()):
            work()


class _Queue:
    def __init__(self, commits: SimulatedCommits) -> None:
        self._commits = commits
        self._jobs: deque[str] = deque()
        self.work: Callable[[], None] = lambda: None

    def put(self, job: str) -> None:
        self._jobs.append(job)
        self._commits.run_later(self.work)

    def get(self) -> str:
        return self._jobs.popleft() if self._jobs else _WAITS


class _Thread:
    def start(self) -> None:
        """Do nothing: the queue runs it."""

    def join(self) -> None:
        """Return: what was put into the queue before has been carried out."""


@contextmanager
def simulated_commits(commits: SimulatedCommits) -> Iterator[None]:
    """Let writers that are made while the block runs commit on this thread."""
    with (
        mock.patch.object(group_commit, "SimpleQueue", commits.queue),
        mock.patch.object(group_commit, "threading", SimpleNamespace(Thread=commits.thread)),
    ):
        yield
