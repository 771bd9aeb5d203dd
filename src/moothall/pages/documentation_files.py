"""The documentation as a site, where the package has it (`make docs`, and packages of a release)."""

import re
from functools import partial
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from moothall.objects import errors
from moothall.objects.csp import hash_source
from moothall.objects.wire import encode
from moothall.pages.paths import DOCUMENTATION_FOLDER, DOCUMENTATION_PREFIX
from moothall.runtime.asgi import Receive, Scope, Send
from moothall.runtime.lifecycle import in_lifecycle_thread

_TYPES: Final = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".txt": "text/plain",
}
_INLINE_SCRIPT: Final = re.compile(rb"<script>(.*?)</script>", re.DOTALL)
_HOUR: Final = "public, max-age=3600"


class DocumentationFiles:
    """An ASGI application of the documentation's files below `/docs`; what is not there is 404."""

    def __init__(self, folder: Path = DOCUMENTATION_FOLDER) -> None:
        self._folder = folder.resolve()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        request = Request(scope)
        response = await self._respond(request)
        if request.method == "HEAD":
            response.body = b""
        await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response:
        if request.method not in {"GET", "HEAD"}:
            return _refusal(errors.METHOD_NOT_ALLOWED)
        path = request.url.path
        if path == DOCUMENTATION_PREFIX.rstrip("/"):
            return RedirectResponse(DOCUMENTATION_PREFIX, 308)
        file = self._file_of(path.removeprefix(DOCUMENTATION_PREFIX))
        data = None if file is None else await in_lifecycle_thread(partial(_read, file))
        if file is None or data is None:
            return _refusal(errors.NOT_FOUND)
        headers = {
            "cache-control": _HOUR,
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            "content-security-policy": _policy(data if file.suffix == ".html" else b""),
        }
        return Response(data, headers=headers, media_type=_TYPES[file.suffix])

    def _file_of(self, name: str) -> Path | None:
        """The file of a path, of a folder its page; None for what lies elsewhere or is of no known kind."""
        if "\0" in name:
            return None
        path = (self._folder / name).resolve()
        if name == "" or name.endswith("/"):
            path = path / "index.html"
        return path if path.is_relative_to(self._folder) and path.suffix in _TYPES else None


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _policy(page: bytes) -> str:
    """What a page may load: files of the site, and the scripts that are written in it."""
    hashes = " ".join(hash_source(script.decode()) for script in _INLINE_SCRIPT.findall(page))
    return (
        f"default-src 'none'; script-src 'self' {hashes}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "connect-src 'self'; worker-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
        "form-action 'none'"
    )


def _refusal(error: errors.ErrorKind) -> Response:
    body = encode({"message": error.message, "code": error.code})
    return Response(body, error.status, {"x-content-type-options": "nosniff"}, media_type="application/json")
