"""Request bodies and helpers for tests of scheduled events."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from moothall.api.jobs import JobRunner
from moothall.objects.clock import CLOCK
from tests.support.harness import Caller, Guild, Platform


def moment(*, hours: float = 0, days: float = 0) -> str:
    """The time at an offset from now, in ISO 8601; hours and days may be negative."""
    return (datetime.now(UTC) + timedelta(hours=hours, days=days)).isoformat()


def external(**fields: Any) -> dict[str, Any]:
    """The body of an external event."""
    return {
        "name": "Picnic",
        "privacy_level": 2,
        "entity_type": 3,
        "scheduled_start_time": moment(hours=1),
        "scheduled_end_time": moment(hours=2),
        "entity_metadata": {"location": "the park"},
        **fields,
    }


def within(channel_id: int, *, stage: bool = False, **fields: Any) -> dict[str, Any]:
    """The body of an event in a voice or stage channel."""
    return {
        "name": "Talk",
        "privacy_level": 2,
        "entity_type": 1 if stage else 2,
        "channel_id": str(channel_id),
        "scheduled_start_time": moment(hours=1),
        **fields,
    }


def later(text: str, *, days: float = 0, hours: float = 0) -> str:
    return (datetime.fromisoformat(text) + timedelta(days=days, hours=hours)).isoformat()


async def plan(caller: Caller, guild: Guild, body: dict[str, Any]) -> dict[str, Any]:
    """Create an event and return its object."""
    reply = await caller.post(f"/guilds/{guild.id}/scheduled-events", body)
    assert reply.status == 200, reply.body
    event: dict[str, Any] = reply.json
    return event


def path_of(event: dict[str, Any]) -> str:
    """The path of an event."""
    return f"/guilds/{event['guild_id']}/scheduled-events/{event['id']}"


class Clock:
    """A clock that tests move forward; each move runs the jobs that are due."""

    def __init__(self, platform: Platform, patch: Callable[..., None]) -> None:
        self._platform = platform
        patch(CLOCK, "_offset_ns", 0)  # restored after the test

    async def pass_by(self, *, minutes: float = 0, hours: float = 0, days: float = 0) -> None:
        """Move the clock forward and run the jobs that are due."""
        CLOCK.advance(timedelta(minutes=minutes, hours=hours, days=days).total_seconds())
        await JobRunner(self._platform.services).drain()
