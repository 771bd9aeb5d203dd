"""Events as tests plan them."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from moothall.kernel.jobs import JobRunner
from moothall.objects import ids, wire
from tests.harness import Caller, Guild, Platform


def moment(*, hours: float = 0, days: float = 0) -> str:
    """A time so far from now, as requests carry it; hours and days may be negative."""
    return (datetime.now(UTC) + timedelta(hours=hours, days=days)).isoformat()


def external(**fields: Any) -> dict[str, Any]:
    """The body of an event somewhere else."""
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
    """The body of an event in a voice channel, or on a stage."""
    return {
        "name": "Talk",
        "privacy_level": 2,
        "entity_type": 1 if stage else 2,
        "channel_id": str(channel_id),
        "scheduled_start_time": moment(hours=1),
        **fields,
    }


async def plan(caller: Caller, guild: Guild, body: dict[str, Any]) -> dict[str, Any]:
    """An event that was planned."""
    reply = await caller.post(f"/guilds/{guild.id}/scheduled-events", body)
    assert reply.status == 200, reply.body
    found: dict[str, Any] = reply.json
    return found


def path_of(event: dict[str, Any]) -> str:
    """Where an event is."""
    return f"/guilds/{event['guild_id']}/scheduled-events/{event['id']}"


class Clock:
    """Time that passes when a test says so; jobs that are due then are done."""

    def __init__(self, platform: Platform, patch: Callable[..., None]) -> None:
        self._platform = platform
        self._ahead = 0
        real = ids.system_clock
        patch(wire, "system_clock", lambda: real() + self._ahead)

    async def pass_by(self, *, minutes: float = 0, hours: float = 0, days: float = 0) -> None:
        """Let time pass, and what is due be done."""
        self._ahead += int(timedelta(minutes=minutes, hours=hours, days=days).total_seconds() * 1000)
        await JobRunner(self._platform.services).drain()
