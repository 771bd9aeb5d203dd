"""Files that stand in the JSON of requests, as data URIs: what images and sounds have in common."""

import binascii
from typing import Generic, Protocol, TypeVar

Info_co = TypeVar("Info_co", covariant=True)
Info = TypeVar("Info")


class Stored(Protocol[Info_co]):
    """A verified file in the blob store."""

    @property
    def hash(self) -> str:
        """The name that it goes by."""

    @property
    def info(self) -> Info_co:
        """What it really is."""


class FileData(Generic[Info]):
    """A file of a request. `declared` is the type that the sender says.

    Once the file has been verified and stored, `stored` says what it is.
    """

    __slots__ = ("data", "declared", "stored")

    def __init__(self, declared: str, data: bytes) -> None:
        self.declared = declared
        self.data = data
        self.stored: Stored[Info] | None = None

    @property
    def hash(self) -> str:
        """The name that the stored file goes by. RuntimeError before it is stored."""
        return self._stored().hash

    @property
    def info(self) -> Info:
        """What the stored file really is. RuntimeError before it is stored."""
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
        """The form that requests carry."""
        return f"data:{self.declared};base64,{binascii.b2a_base64(self.data, newline=False).decode()}"
