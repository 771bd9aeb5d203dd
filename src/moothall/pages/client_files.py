"""The client for people: the files of its build, and its page at every path that it has routes for."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from moothall.objects import errors
from moothall.objects.csp import hash_source
from moothall.objects.errors import ErrorKind
from moothall.objects.wire import encode
from moothall.pages.paths import CLIENT_FOLDER, THEME
from moothall.runtime.asgi import Receive, Scope, Send
from moothall.runtime.lifecycle import in_lifecycle_thread

FOLDER: Final = CLIENT_FOLDER

PREFIX: Final = "/app/"
_PAGE: Final = "index.html"
_FILES_ONLY: Final = ("assets/", "emojibase/", "fonts/")
"""Folders without routes of the client."""
_IMMUTABLE: Final = "public, max-age=31536000, immutable"
_REVALIDATED: Final = "no-cache"
_FOR_A_WEEK: Final = "public, max-age=604800"
_THEME_LINK: Final = b'<link rel="stylesheet" href="%s">' % THEME.encode()
_WORKER: Final = "service-worker.js"
"""Keeps the page for when there is no network; it serves links to channels too, which are outside of `PREFIX`."""
_TYPES: Final = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
    ".txt": "text/plain",
    ".webmanifest": "application/manifest+json",
}
INSERTED_STYLES: Final = (
    "@layer {\n  [data-react-aria-pressable] {\n    touch-action: pan-x pan-y pinch-zoom;\n  }\n}",
    "@layer {\n  * {\n    overscroll-behavior: contain;\n  }\n}",
)
"""The texts of the style elements that React Aria adds to the page: for buttons, and on iOS while a dialog is open."""
_ENCODINGS: Final = (("br", ".br"), ("gzip", ".gz"))
_BUILDING: Final = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="3">'
    '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Moothall</title>'
    '<link rel="icon" href="/icon.svg"><link rel="stylesheet" href="/style.css"><body class="narrow"><main>'
    "<h1>The client is not built yet</h1>"
    "<p>If <code>make run</code> is building it, this page opens it when it is ready."
    " Everything else works meanwhile.</p></main></body></html>"
)


class ClientFile(NamedTuple):
    """One file of the build in memory, as it is and compressed."""

    content_type: str
    cache_control: str
    data: bytes
    encoded: Mapping[str, bytes]
    """By content encoding."""


class ClientFiles:
    """An ASGI application of the client's build in `folder`.

    Files are read once, on a thread. Paths of no file are the client's own routes and serve its page. Without a build,
    the page says so and reloads itself until there is one. `themed` links the operator's style sheet in the page.
    """

    def __init__(
        self, folder: Path = FOLDER, *, public_url: str, activities: str | None = None, themed: bool = False
    ) -> None:
        self._folder = folder
        self._themed = themed
        self._files: dict[str, ClientFile] = {}
        self._headers = {
            "content-security-policy": content_security_policy(public_url, activities),
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            "cross-origin-opener-policy": "same-origin",
            "permissions-policy": "camera=(self), display-capture=(self), microphone=(self), geolocation=(), "
            "payment=()",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if _PAGE not in self._files:
            self._files = await in_lifecycle_thread(partial(_read_files, self._folder, themed=self._themed))
        response = self._respond(Request(scope))
        response.headers.update(self._headers)
        if scope["method"] == "HEAD":
            response.body = b""
        await response(scope, receive, send)

    def _respond(self, request: Request) -> Response:
        if request.method not in {"GET", "HEAD"}:
            return _refusal(errors.METHOD_NOT_ALLOWED, {"allow": "GET, HEAD"})
        path = request.url.path
        name = path.removeprefix(PREFIX) if path.startswith(PREFIX) else ""
        file = self._files.get(name)
        if file is None and name.startswith(_FILES_ONLY):
            return _refusal(errors.NOT_FOUND)
        file = file or self._files.get(_PAGE)
        if file is None:
            return HTMLResponse(_BUILDING, 503, {"cache-control": "no-store", "retry-after": "3"})
        headers = {"cache-control": file.cache_control, "vary": "accept-encoding"}
        if name == _WORKER:
            headers["service-worker-allowed"] = "/"
        accepted = request.headers.get("accept-encoding", "")
        for encoding, data in file.encoded.items():
            if encoding in accepted:
                return Response(data, headers=headers | {"content-encoding": encoding}, media_type=file.content_type)
        return Response(file.data, headers=headers, media_type=file.content_type)


def _refusal(error: ErrorKind, headers: Mapping[str, str] | None = None) -> Response:
    body = encode({"message": error.message, "code": error.code})
    return Response(body, error.status, headers, media_type="application/json")


def content_security_policy(public_url: str, activities: str | None = None) -> str:
    """The policy of the client's page: nothing from other hosts, nothing inline, scripts only by Trusted Types.

    `public_url` is the origin in the URLs of attachments, which differs from the page's if the server is opened by
    another name. `activities` are the origins of Activities, which the page shows in frames, and whose images
    in what they share.
    """
    parts = urlsplit(public_url)
    origin = f"{parts.scheme}://{parts.netloc}"
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            # Positions and sizes are set by the style objects of elements, which no policy concerns.
            " ".join(("style-src 'self'", *map(hash_source, INSERTED_STYLES))),
            f"img-src 'self' {origin} blob: data:" + (f" {activities}" if activities else ""),
            "font-src 'self'",
            f"media-src 'self' {origin} blob:",
            "connect-src 'self'",
            "frame-src " + (activities or "'none'"),
            "worker-src 'self'",
            "manifest-src 'self'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types moothall",
        )
    )


def _read_files(folder: Path, *, themed: bool) -> dict[str, ClientFile]:
    """Every file of the build by its path below `folder`; empty without a build. Reads files.

    The page of a build links the style sheet of the operator, if `themed`, and is not compressed then.
    """
    files: dict[str, ClientFile] = {}
    for path in sorted(folder.rglob("*")):
        content_type = _TYPES.get(path.suffix)
        if content_type is None or not path.is_file():
            continue
        name = path.relative_to(folder).as_posix()
        encoded = {
            encoding: compressed.read_bytes()
            for encoding, suffix in _ENCODINGS
            if (compressed := path.with_name(path.name + suffix)).exists()
        }
        # The names of assets contain a hash of their content.
        folder_name = name.partition("/")[0]
        cache_control = {"assets": _IMMUTABLE, "fonts": _FOR_A_WEEK}.get(folder_name, _REVALIDATED)
        data = path.read_bytes()
        if themed and name == _PAGE:
            # After the build's own styles, and in the body the last of all.
            data, encoded = data.replace(b"</head>", _THEME_LINK + b"</head>"), {}
        files[name] = ClientFile(content_type, cache_control, data, encoded)
    return files
