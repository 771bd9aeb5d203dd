"""Files in JSON requests as data URIs: the common base of images and sounds."""

import binascii
from typing import Generic, Protocol, TypeVar

Info_co = TypeVar("Info_co", covariant=True)
Info = TypeVar("Info")


class Stored(Protocol[Info_co]):
    """A verified file in the blob store."""

    @property
    def hash(self) -> str:
        """The hash that names it."""

    @property
    def info(self) -> Info_co:
        """The verified information about it."""


class FileData(Generic[Info]):
    """A file of a request. `declared` is the media type in the URI, which is not trusted.

    After the file has been verified and stored, `stored` holds the result.
    """

    __slots__ = ("data", "declared", "stored")

    def __init__(self, declared: str, data: bytes) -> None:
        self.declared = declared
        self.data = data
        self.stored: Stored[Info] | None = None

    @property
    def hash(self) -> str:
        """The hash that names the stored file. Raises RuntimeError before it is stored."""
        return self._stored().hash

    @property
    def info(self) -> Info:
        """The verified information about the stored file. Raises RuntimeError before it is stored."""
        return self._stored().info

    def _stored(self) -> Stored[Info]:
        if self.stored is None:
            raise RuntimeError("the file has not been verified and stored")
        return self.stored

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FileData) and (self.declared, self.data) == (other.declared, other.data)

    def __hash__(self) -> int:
        return hash((self.declared, self.data))

    def wire(self) -> str:
        """The data URI, as in requests."""
        return f"data:{self.declared};base64,{binascii.b2a_base64(self.data, newline=False).decode()}"
