"""The OpenAPI document, made in a process of its own.

It takes the interpreter for a second of the first request, in which all other requests would wait for it again and
again, and ten megabytes that would not be given back.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import msgspec
from msgspec import Struct

import moothall.gateway.endpoints
import moothall.oauth2.endpoints  # noqa: F401 both register endpoints
from moothall.api.endpoint import endpoints
from moothall.pages.documents import Description, describe
from moothall.resources import load_endpoints

_MODULE: Final = "moothall.app.api_description"
_NICE: Final = 10
_SECONDS: Final = 60.0
"""Time for the process, on a machine that is busy; usually it takes one or two."""


class _Request(Struct, frozen=True):
    """What the process reads from its standard input."""

    url: str
    examples: dict[str, str] | None


async def describe_in_process(url: str, examples: Mapping[str, str] | None) -> Description:
    """Describe all endpoints as `describe`, in a process of its own. Raises OSError if it fails."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", _MODULE, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    request = msgspec.json.encode(_Request(url, None if examples is None else dict(examples)))
    try:
        async with asyncio.timeout(_SECONDS):
            output, _ = await process.communicate(request)
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode:
        raise OSError(f"the process that describes the API ended with {process.returncode}")
    return msgspec.msgpack.decode(output, type=Description)


def main() -> None:
    """Describe all endpoints on standard output, for the request on standard input."""
    os.nice(_NICE)
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=_Request)
    load_endpoints()
    description = describe(endpoints(), url=request.url, examples=request.examples)
    sys.stdout.buffer.write(msgspec.msgpack.encode(description))


if __name__ == "__main__":
    main()
