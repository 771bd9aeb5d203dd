"""What processes tell each other about jobs."""

from typing import ClassVar

from moothall.bus import Audience
from moothall.kernel.events import Event


class JobsDue(Event, frozen=True, kw_only=True):
    """To every serving process: jobs have become due, so look for them now. No client hears it."""

    name: ClassVar[str] = "JOBS_DUE"
    audience: ClassVar[Audience] = Audience.NODE
