"""The harvest object: a request for an archive of one's data, and its state."""

from enum import IntEnum
from typing import Final

from msgspec import Struct

from moothall.objects.ids import Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.harvest.links import ArchiveLinks
from moothall.resources.harvest.queries import HarvestRow


class HarvestStatus(IntEnum):
    """How far the collection of an archive is."""

    QUEUED = 0
    RUNNING = 1
    FAILED = 2
    COMPLETED = 3
    CANCELLED = 4


INITIAL: Final = "INITIAL"
RUNNING: Final = "RUNNING"
EXTRACTED: Final = "EXTRACTED"

BACKENDS: Final = {"accounts": "users", "messages": "messages", "servers": "guilds"}
"""The kinds of data that can be requested, in lower case, with their names in the object."""

_STATES: Final = {HarvestStatus.COMPLETED: "DELIVERED", HarvestStatus.CANCELLED: "CANCELLED"}


class HarvestMetadata(Struct, frozen=True, kw_only=True):
    """Fields that public clients read."""

    user_is_staff: bool = False
    sla_email_sent: bool = False
    bypass_cooldown: bool = False
    is_provisional: bool = False


class Harvest(Struct, frozen=True, kw_only=True):
    """A request for an archive of one's data. No mail is sent: `download_url` is where the archive is."""

    harvest_id: Snowflake
    user_id: UserId
    email: str
    """The user's address; empty without one."""
    state: str
    status: int
    created_at: Timestamp
    completed_at: Timestamp | None
    polled_at: Timestamp | None
    backends: dict[str, str]
    updated_at: Timestamp
    shadow_run: bool = False
    harvest_metadata: HarvestMetadata = HarvestMetadata()
    size: int
    """Bytes of the archive; 0 while there is none."""
    download_url: str | None
    """A URL that is valid for an hour; null before the archive is complete and after it was deleted."""


def harvest_object(row: HarvestRow, email: str | None, links: ArchiveLinks) -> Harvest:
    """The object of a row."""
    return Harvest(
        harvest_id=row.id,
        user_id=row.user_id,
        email=email or "",
        state=_STATES.get(HarvestStatus(row.status), "INCOMPLETE"),
        status=row.status,
        created_at=row.created_at,
        completed_at=row.completed_at,
        polled_at=row.polled_at,
        backends=row.backends,
        updated_at=row.updated_at,
        size=row.size,
        download_url=links.url(row.id) if row.size else None,
    )
