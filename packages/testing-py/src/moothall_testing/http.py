"""Plain HTTP requests to the test server, blocking and without a dependency."""

import json
import urllib.error
import urllib.request
import uuid
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

_SECONDS: Final = 65.0
"""Longer than the longest wait for the transcript."""


class RefusedError(AssertionError):
    """A request that the platform refused, with its status and answer."""

    def __init__(self, method: str, path: str, status: int, body: Any) -> None:
        message = body.get("message", "") if isinstance(body, dict) else ""
        super().__init__(f"{method} {path} was answered with {status} {message}: {body}")
        self.status = status
        self.body = body
        self.code: int = body.get("code", 0) if isinstance(body, dict) else 0


_OPENER: Final = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""The server is on this machine, whatever proxy the environment names."""


def send(
    method: str,
    url: str,
    body: Any = None,
    *,
    authorization: str | None = None,
    files: Mapping[str, bytes] | None = None,
) -> Any:
    """Send a request with a JSON body, or a form with files; returns the parsed answer. Raises RefusedError."""
    data, content_type = _encoded(body, files)
    request = urllib.request.Request(url, data, method=method)  # noqa: S310 the test server's
    request.add_header("Content-Type", content_type)
    if authorization is not None:
        request.add_header("Authorization", authorization)
    try:
        with _OPENER.open(request, timeout=_SECONDS) as answer:
            return _parsed(answer.read(), answer.headers.get_content_type())
    except urllib.error.HTTPError as error:
        with error:
            content = _parsed(error.read(), error.headers.get_content_type())
        raise RefusedError(method, urlsplit(url).path, error.code, content) from None


def read(url: str) -> bytes:
    """The content of a file of the server. Raises RefusedError."""
    try:
        with _OPENER.open(url, timeout=_SECONDS) as answer:
            content: bytes = answer.read()
            return content
    except urllib.error.HTTPError as error:
        with error:
            raise RefusedError("GET", urlsplit(url).path, error.code, None) from None


def _encoded(body: Any, files: Mapping[str, bytes] | None) -> tuple[bytes | None, str]:
    payload = None if body is None else json.dumps(body).encode()
    if not files:
        return payload, "application/json"
    boundary = uuid.uuid4().hex
    form = bytearray()
    form += f'--{boundary}\r\nContent-Disposition: form-data; name="payload_json"\r\n'.encode()
    form += b"Content-Type: application/json\r\n\r\n" + (payload or b"{}") + b"\r\n"
    for number, (name, content) in enumerate(files.items()):
        quoted = name.replace('"', "%22")
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="files[{number}]"; filename="{quoted}"\r\n\r\n'
        form += head.encode() + content + b"\r\n"
    return bytes(form + f"--{boundary}--\r\n".encode()), f"multipart/form-data; boundary={boundary}"


def _parsed(content: bytes, kind: str) -> Any:
    if not content:
        return None
    return json.loads(content) if kind == "application/json" else content.decode("utf-8", "replace")
