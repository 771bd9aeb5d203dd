"""Blobs in memory, on the thread of the simulation: what was stored survives the end of a process."""

import io
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from typing import Any, Self

from obstore.store import MemoryStore

from moothall.objects.clock import CLOCK
from moothall.runtime.budgets import SERVER, Payer
from moothall.storage.blobs import BlobFile, Blobs


class SimulatedBlobs(Blobs):
    """A store of blobs that several processes share. obstore would store them on threads of its own."""

    def __init__(self) -> None:
        super().__init__(MemoryStore())
        self.data: dict[str, bytes] = {}
        self.times: dict[str, int] = {}

    async def put(self, key: str, data: bytes, payer: Payer = SERVER) -> None:  # noqa: ARG002 no one waits
        self.data[key] = bytes(data)
        self.times[key] = CLOCK.now_ms()

    def writing(self, key: str, payer: Payer = SERVER) -> Any:  # noqa: ARG002 no one waits
        return _Writing(self, key)

    async def get(self, key: str) -> bytes | None:
        return self.data.get(key)

    async def stream(self, key: str, start: int, end: int) -> AsyncGenerator[bytes]:
        if key not in self.data:
            raise FileNotFoundError(key)
        yield self.data[key][start:end]

    def reader(self, key: str, *, maximum: int) -> BlobFile:
        return BlobFile(io.BytesIO(self.data[key]), maximum)

    async def exists(self, key: str) -> bool:
        return key in self.data

    async def modified_at(self, key: str) -> int:
        return self.times.get(key, 0)

    async def delete(self, key: str) -> None:
        self.data.pop(key, None)

    async def delete_all(self, keys: Iterable[str]) -> None:
        for key in keys:
            self.data.pop(key, None)

    async def keys(self, prefix: str) -> AsyncIterator[str]:
        for key in sorted(self.data):
            if key.startswith(prefix):
                yield key


class _Writing:
    """A blob that is being written: it is there once the block ends without an error."""

    def __init__(self, blobs: SimulatedBlobs, key: str) -> None:
        self._blobs = blobs
        self._key = key
        self._parts: list[bytes] = []

    async def __aenter__(self) -> Self:
        return self

    async def write(self, data: bytes) -> None:
        self._parts.append(bytes(data))

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            await self._blobs.put(self._key, b"".join(self._parts))
