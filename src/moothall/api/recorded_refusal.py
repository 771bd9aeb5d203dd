"""A refusal that leaves something behind: what moderation did about the request."""

from collections.abc import Awaitable, Callable

from moothall.objects.errors import ErrorKind, Refusal
from moothall.objects.json_object import JsonObject


class RecordedRefusal(Refusal):
    """Ends a request like any refusal; after its transaction is rolled back, the pipeline awaits `record`.

    `record` stores and announces in a transaction of its own, before the response is sent.
    """

    def __init__(
        self,
        kind: ErrorKind,
        record: Callable[[], Awaitable[object]],
        *,
        message: str | None = None,
        errors: JsonObject | None = None,
    ) -> None:
        super().__init__(kind, message=message, errors=errors)
        self.record = record
