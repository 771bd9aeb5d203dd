"""What this process has counted since its last sample."""

from moothall.runtime.metrics import NO_REQUESTS, RequestCounts


class FigureCounts:
    """Messages of this process, and the requests of its workers, which write nothing themselves."""

    def __init__(self) -> None:
        self.messages = 0
        self.requests = NO_REQUESTS

    def count_message(self) -> None:
        """Count a message that is stored."""
        self.messages += 1

    def add_requests(self, counts: RequestCounts) -> None:
        """Count requests of another process."""
        self.requests = self.requests.plus(counts)
