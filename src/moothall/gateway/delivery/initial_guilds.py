"""The guilds of READY, for sessions that read them there."""

from collections import deque
from collections.abc import Iterable

from moothall.gateway.delivery.hub import Hub
from moothall.gateway.delivery.joining import Joining
from moothall.gateway.sessions.session import Session
from moothall.gateway.snapshot.guild_snapshot import GuildSnapshot
from moothall.objects.ids import GuildId
from moothall.runtime.turns import yield_turn


class InitialGuilds:
    """The guilds that a session receives in READY, whose events are kept for it until `finish`."""

    def __init__(self, hub: Hub, session: Session) -> None:
        self._hub = hub
        self._session = session
        self._joining: deque[Joining] = deque()
        self.snapshots: list[GuildSnapshot] = []

    async def read(self, guild_ids: Iterable[GuildId]) -> None:
        """Read guilds. Those that the session joins by GUILD_CREATE at this time, and deleted ones, are left out."""
        for guild_id in guild_ids:
            joining = await self._hub.start_joining(self._session, guild_id)
            if joining is None:
                continue
            self._joining.append(joining)
            snapshot = await self._hub.read_guild(joining)
            if snapshot is None:
                self._hub.stop_joining(self._joining.pop())
            else:
                self.snapshots.append(snapshot)
            # Each guild takes milliseconds: other tasks run in between.
            await yield_turn()

    async def finish(self) -> None:
        """Send the events since READY was read; the session receives those of the guilds from then on."""
        try:
            while self._joining:
                await self._hub.finish_joining(self._joining[0])
                self._hub.stop_joining(self._joining.popleft())
        finally:
            self.stop()

    def stop(self) -> None:
        """Keep no more events for the session."""
        while self._joining:
            self._hub.stop_joining(self._joining.pop())
