"""Events about jobs, between processes."""

from typing import ClassVar

from moothall.bus import Audience
from moothall.kernel.events import Event


class JobsDue(Event, frozen=True, kw_only=True):
    """To every serving process, not to clients: jobs have become due."""

    name: ClassVar[str] = "JOBS_DUE"
    audience: ClassVar[Audience] = Audience.NODE
