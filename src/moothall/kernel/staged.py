"""A file that has been stored for a request, and where uploaded files lie."""

from typing import Any, Final

from msgspec import Struct

from moothall.objects.ids import Snowflake

PREFIX: Final = "uploads"
_DAY_MS: Final = 86_400_000


class StagedFile(Struct, kw_only=True, eq=False):
    """A file that has been stored, and that nothing names yet."""

    id: Snowflake
    field: str
    """The name of its part: `files[0]`, `file`."""
    index: int
    """The n of `files[n]`; 0 for `file`."""
    filename: str
    """As it was sent, unchecked."""
    size: int = 0
    head: bytes = b""
    """Its first bytes, up to 512."""
    info: Any = None
    """What the row's `Uploads.examine` has found out."""
    taken: bool = False
    """Whether a message has it now: what else uses a file stores it elsewhere (the sweeper asks messages only)."""

    @property
    def key(self) -> str:
        """Where the blob lies."""
        return upload_key(self.id)


def upload_key(file_id: Snowflake) -> str:
    """Where an uploaded file lies: below the day that its id was made on."""
    return f"{day_prefix(file_id)}/{int(file_id)}"


def day_prefix(file_id: Snowflake) -> str:
    """The folder of all that was uploaded on the day of an id."""
    return f"{PREFIX}/{Snowflake(file_id).created_ms // _DAY_MS}"
