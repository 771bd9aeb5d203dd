"""Pages of tests: what people saw step by step, with the files that they need beside them."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from moothall_testing.http import RefusedError, read

_MAX_FILE: Final = 4 * 1024 * 1024
"""Bytes of an attachment; the page of a larger one shows its description."""


def prepare_traces(folder: Path, url: str) -> None:
    """Write the script and the style of all pages."""
    for name in ("trace.js", "trace.css"):
        _write(folder / name, read(f"{url}/app/trace/{name}"))


def write_trace(path: Path, page: str, url: str) -> None:
    """Write a page, and the attachments of its messages into the folder `files` beside it."""
    for address, file in _attachments(page, url):
        target = path.parent / "files" / "attachments" / file
        if not target.exists():
            with suppress(RefusedError):  # the test has deleted it
                content = read(address)
                if len(content) <= _MAX_FILE:
                    _write(target, content)
    _write(path, page.encode())


def _attachments(page: str, url: str) -> Iterator[tuple[str, str]]:
    """The addresses of attachments in a page, each with its path among files."""
    for address in set(re.findall(rf'{re.escape(url)}/attachments/[^"\\\s)>]+', page)):
        file = unquote(urlsplit(address).path).removeprefix("/attachments/")
        if re.fullmatch(r"\d+/\d+/[^/\\]+", file) and not file.endswith("/.."):
            yield address, file


def _write(path: Path, content: bytes) -> None:
    """Write a file at once, as several test processes may write the same one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    unfinished.write_bytes(content)
    unfinished.replace(path)
