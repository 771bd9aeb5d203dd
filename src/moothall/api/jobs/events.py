"""Events about jobs, between processes."""

from typing import ClassVar

from moothall.api.events import Event
from moothall.bus import Audience


class JobsDue(Event, frozen=True, kw_only=True):
    """To every serving process, not to clients: jobs have become due."""

    name: ClassVar[str] = "JOBS_DUE"
    audience: ClassVar[Audience] = Audience.NODE
