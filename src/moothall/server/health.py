"""`/healthz`, `/readyz`: whether the server works, and how a request arrived that proves to know the server key.

`moothall doctor` asks with such a proof, through the proxy that stands in front: so it knows whether the answer is this
installation's own, and what the proxy did to the request.
"""

import asyncio
import hmac
from collections.abc import Callable
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from moothall import __version__
from moothall.api.request.http_request import client_address, forwarded_address, is_forwarded
from moothall.objects.clock import CLOCK
from moothall.objects.wire import encode
from moothall.runtime.asgi import Scope, Send
from moothall.runtime.secrets import ServerKey
from moothall.storage.database import Database, Query, StorageError
from moothall.storage.sql import literal, select

PROOF_SECONDS: Final = 60
"""For how long a proof is accepted. A copy of one tells how the copying request arrived, and nothing else."""
_PATIENCE: Final = 2.0
"""Seconds within which the database must respond."""
_SCHEME: Final = "Moothall-Key"
_SELECT_ONE: Final = Query(lambda: select(literal(1)))


class Arrival(Struct, frozen=True):
    """How a request reached the server."""

    version: str
    """The version of Moothall that serves."""
    now_ms: int
    peer: str
    """Address of the other end of the connection: the client or a proxy."""
    trusted: bool
    """Whether the peer is in `trusted_proxies`."""
    forwarded: bool
    """Whether a header says that a proxy forwarded the request."""
    addressed: bool
    """Whether X-Forwarded-For ends in a readable address."""
    client: str
    """The address that rate limits and logs go by."""


class Health(Struct, frozen=True):
    """The body of a response."""

    status: str
    stuck: list[str] | UnsetType = UNSET
    """What does not work at the moment, a sentence each."""
    arrival: Arrival | UnsetType = UNSET


def key_proof(key: ServerKey, now_ms: int) -> str:
    """The Authorization header that proves to know the server key, for `PROOF_SECONDS`."""
    seconds = str(now_ms // 1000)
    return f"{_SCHEME} {seconds}.{_digest(key.subkeys('health')[0], seconds)}"


def _digest(subkey: bytes, seconds: str) -> str:
    return hmac.digest(subkey, seconds.encode(), "sha256").hex()


class HealthPage:
    """The page at `PATH`: 200 if the database responds and events are delivered, else 503. It counts for no rate limit.

    At `READY_PATH` it is 503 for what is stuck beside the database as well: another process serves clients better.
    It answers within `_PATIENCE` seconds, and names what is stuck. `stuck_beside` tells what does not work beside
    the database, such as NATS: then the server still answers requests. `delivers` returns whether the gateway of this
    process delivers the events that it has.
    """

    PATH: Final = "/healthz"
    READY_PATH: Final = "/readyz"

    def __init__(
        self,
        database: Database,
        key: ServerKey,
        trusted: Callable[[str], bool],
        stuck_beside: Callable[[], list[str]] = list,
        *,
        delivers: Callable[[], bool] = lambda: True,
    ) -> None:
        self._database = database
        self._stuck_beside = stuck_beside
        self._subkeys = key.subkeys("health")
        self._trusted = trusted
        self._delivers = delivers

    async def __call__(self, scope: Scope, send: Send) -> None:
        """Answer one request."""
        arrival = self._describe(scope) if self._is_proven(scope) else UNSET
        failure = await self._failure_of_database()
        beside = self._stuck_beside()
        stuck = [*([] if failure is None else [failure]), *beside]
        status, text = (200, "ok") if failure is None else (503, "the database does not answer")
        if failure is None and not self._delivers():
            status, text = 503, "events are not delivered"
            stuck.append(text)
        if status == 200 and beside and scope["path"] == self.READY_PATH:
            status, text = 503, "not ready"
        health = Health(text, stuck or UNSET, arrival)
        body = encode(health)
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _failure_of_database(self) -> str | None:
        if (stuck := self._database.stuck()) is not None:
            return stuck
        try:
            async with asyncio.timeout(_PATIENCE), self._database.read() as reader:
                await reader.scalar(_SELECT_ONE)
        except StorageError as error:
            # Its text may name the host of the database.
            return f"the database cannot be read ({type(error).__name__})"
        except TimeoutError:
            return f"the database has not answered within {_PATIENCE:.0f} s"
        return None

    def _is_proven(self, scope: Scope) -> bool:
        header: bytes = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        scheme, _, proof = header.decode("latin-1").partition(" ")
        seconds, _, digest = proof.partition(".")
        if scheme != _SCHEME or not (seconds.isascii() and seconds.isdigit() and len(seconds) < 20):
            return False
        recent = abs(CLOCK.now() - int(seconds)) <= PROOF_SECONDS
        matches = [hmac.compare_digest(_digest(subkey, seconds).encode(), digest.encode()) for subkey in self._subkeys]
        return recent and any(matches)

    def _describe(self, scope: Scope) -> Arrival:
        peer = (scope.get("client") or ("",))[0]
        listed = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for")
        return Arrival(
            version=__version__,
            now_ms=CLOCK.now_ms(),
            peer=peer,
            trusted=self._trusted(peer),
            forwarded=is_forwarded(scope["headers"]),
            addressed=forwarded_address(listed.rpartition(b",")[2]) is not None,
            client=client_address(scope, self._trusted),
        )
