"""Files stored for a request, and the keys of uploaded files in the blob store."""

from typing import Any, Final

from msgspec import Struct

from moothall.objects.ids import Snowflake

PREFIX: Final = "uploads"
_DAY_MS: Final = 86_400_000


class StagedFile(Struct, kw_only=True, eq=False):
    """An uploaded file that is stored before the transaction that refers to it."""

    id: Snowflake
    field: str
    """The name of its part, such as `files[0]`."""
    index: int
    """The n of `files[n]`; for a part of another name, a number that no other file of the request has."""
    filename: str
    """As sent by the client, not validated."""
    size: int = 0
    head: bytes = b""
    """Its first bytes, up to 512."""
    info: Any = None
    """The result of the endpoint's `Uploads.examine`."""
    taken: bool = False
    """Whether a message has the file now. Other uses store a copy, because the sweeper looks at messages only."""

    @property
    def key(self) -> str:
        """The key of its blob."""
        return upload_key(self.id)


def upload_key(file_id: Snowflake) -> str:
    """The key of an uploaded file: the prefix of the day on which its id was made, and the id."""
    return f"{day_prefix(file_id)}/{int(file_id)}"


def day_prefix(file_id: Snowflake) -> str:
    """The prefix of the keys of all files uploaded on the day on which an id was made."""
    return f"{PREFIX}/{Snowflake(file_id).created_ms // _DAY_MS}"
