"""Files that the CDN serves, as a test receives them."""

import asyncio
from pathlib import Path
from typing import Any, NamedTuple

from moothall.api.address_limits import AddressLimits
from moothall.cdn.attachments import Attachments
from moothall.cdn.rendition_cache import RenditionCache
from moothall.storage.disk_cache import DiskCache
from tests.support.harness import Platform


class Got(NamedTuple):
    """A response."""

    status: int
    headers: dict[str, str]
    body: bytes
    portions: int


async def get(platform: Platform, url: str, method: str = "GET", more: str = "", **headers: str) -> Got:
    """Send a request to the attachments."""
    services = platform.services
    limits = AddressLimits(None)
    try:
        renditions = services.resources[RenditionCache]
    except LookupError:
        renditions = RenditionCache(services.blobs, DiskCache(Path("unused"), 0), limits)
    app = Attachments(platform.database, services.blobs, services.links, renditions, limits)
    sent: list[Any] = []
    path, _, query = url.removeprefix("http://localhost:3333").partition("?")
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": (query + more).encode(),
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()],
    }

    async def receive() -> Any:
        return {"type": "http.request"} if len(sent) > 10_000 else await _forever()

    async def keep(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, keep)
    response_headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    assert response_headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in response_headers["content-security-policy"]
    return Got(sent[0]["status"], response_headers, b"".join(m.get("body", b"") for m in sent[1:]), len(sent) - 1)


async def _forever() -> None:
    await asyncio.Event().wait()
