"""Forms with files, made by hand."""

from collections.abc import AsyncIterator

BOUNDARY = "-----moot0123456789"
TYPE = f"multipart/form-data; boundary={BOUNDARY}"


def part(name: str, data: bytes, filename: str | None = None, **headers: str) -> bytes:
    """One part, from its boundary to the line break after it."""
    shown = f'form-data; name="{name}"' + (f'; filename="{filename}"' if filename is not None else "")
    lines = [f"--{BOUNDARY}", f"Content-Disposition: {shown}"]
    lines += [f"{header.replace('_', '-')}: {value}" for header, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data + b"\r\n"


def form(*parts: bytes) -> bytes:
    """A whole form."""
    return b"".join(parts) + f"--{BOUNDARY}--\r\n".encode()


async def portions(data: bytes, size: int = 65_536) -> AsyncIterator[bytes]:
    """Bytes as a connection brings them."""
    for start in range(0, len(data), size):
        yield data[start : start + size]
