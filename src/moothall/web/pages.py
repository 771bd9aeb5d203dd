"""The pages of a browser: a plain ASGI application over a handful of documents, each made once."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from functools import cached_property
from importlib import resources
from string import Template
from typing import Any

from moothall import __version__
from moothall.kernel.endpoint import Endpoint
from moothall.kernel.openapi import openapi_document
from moothall.objects.wire import encode
from moothall.web.reference import reference_page

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_HTML, _CSS, _JSON = "text/html; charset=utf-8", "text/css; charset=utf-8", "application/json"

_NO_SUCH = b'{"message":"404: Not Found","code":0}'
_NO_METHOD = b'{"message":"405: Method Not Allowed","code":0}'

_SAFETY = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'"),
)
_OPEN_TO_ALL = (b"access-control-allow-origin", b"*")


class Pages:
    """What is at `/`, `/reference` and `/api/v10/openapi.json`; everything else is 404."""

    def __init__(self, rows: Iterable[Endpoint], *, public_url: str, gateway_url: str) -> None:
        self._rows = list(rows)
        self._url = public_url
        self._gateway = gateway_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        del receive
        # Each document is made once, but making the large ones takes a tenth of a second.
        found = await asyncio.to_thread(self._find, scope["path"])
        method = scope["method"]
        if found is None:
            status, body, kind = 404, _NO_SUCH, _JSON
        elif method not in {"GET", "HEAD"}:
            status, body, kind = 405, _NO_METHOD, _JSON
        else:
            status, (body, kind) = 200, found
        headers = [(b"content-type", kind.encode()), (b"content-length", b"%d" % len(body)), *_SAFETY]
        if status == 405:
            headers.append((b"allow", b"GET, HEAD"))
        if kind == _JSON:
            headers.append(_OPEN_TO_ALL)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if method == "HEAD" else body})

    def _find(self, path: str) -> tuple[bytes, str] | None:
        if path == "/":
            return self._landing, _HTML
        if path in {"/reference", "/reference/"}:
            return self._reference, _HTML
        if path == "/style.css":
            return self._style, _CSS
        if path.startswith("/api") and path.endswith("/openapi.json"):
            return self._openapi, _JSON
        return None

    @cached_property
    def _document(self) -> dict[str, Any]:
        return openapi_document(self._rows, version=__version__, url=self._url)

    @cached_property
    def _openapi(self) -> bytes:
        return encode(self._document)

    @cached_property
    def _reference(self) -> bytes:
        return reference_page(self._document)

    @cached_property
    def _style(self) -> bytes:
        return resources.files("moothall.web").joinpath("style.css").read_bytes()

    @cached_property
    def _landing(self) -> bytes:
        page = Template(resources.files("moothall.web").joinpath("landing.html").read_text(encoding="utf-8"))
        return page.substitute(url=self._url, gateway=self._gateway, version=__version__).encode()
