"""The frames that tell sessions of channels revealed and hidden, each made once for all of them."""

from collections.abc import Iterable

from moothall.gateway.frames import Frame
from moothall.gateway.guild_view import ChannelView, GuildView, MemberView
from moothall.gateway.snapshots import Snapshots
from moothall.gateway.state_events import hidden_channel


class VisibilityFrames:
    """What one change of a guild gives sessions to hear."""

    def __init__(self, view: GuildView, snapshots: Snapshots) -> None:
        self._view = view
        self._snapshots = snapshots
        self.created: dict[int, Frame] = {}
        """CHANNEL_CREATE by channel."""
        self.deleted: dict[int, Frame] = {}
        """CHANNEL_DELETE by channel."""
        self._threaded: dict[frozenset[int], frozenset[int]] = {}
        self._private: dict[frozenset[int], frozenset[int]] = {}
        self._voice: dict[frozenset[int], list[Frame]] = {}
        self._gatherings: dict[frozenset[int], list[tuple[str, Frame]]] = {}

    async def load(self, channel_ids: frozenset[int]) -> None:
        """Read the channels that are to be revealed."""
        if channel_ids:
            found = await self._snapshots.channel_objects(self._view.id, channel_ids)
            self.created = {channel_id: Frame("CHANNEL_CREATE", data) for channel_id, data in found.items()}

    def come(self, channel_ids: Iterable[int]) -> list[Frame]:
        """CHANNEL_CREATE of each that still exists, oldest first."""
        return [self.created[channel_id] for channel_id in sorted(channel_ids) if channel_id in self.created]

    def gone(self, channel_ids: Iterable[int]) -> list[Frame]:
        """CHANNEL_DELETE of each."""
        return [self._gone(channel_id) for channel_id in sorted(channel_ids)]

    async def threads(self, member: MemberView, channel_ids: frozenset[int]) -> Frame | None:
        """THREAD_LIST_SYNC for someone; None if there is nothing to sync."""
        threaded = self._threaded.get(channel_ids)
        if threaded is None:
            threaded = self._threaded[channel_ids] = await self._snapshots.threaded(channel_ids)
        data = await self._snapshots.threads(self._view, member, threaded) if threaded else None
        return None if data is None else Frame("THREAD_LIST_SYNC", data)

    async def threads_now(self, member: MemberView, channel_ids: frozenset[int]) -> Frame | None:
        """THREAD_LIST_SYNC for someone who manages threads elsewhere than before; None without private ones there."""
        private = self._private.get(channel_ids)
        if private is None:
            private = self._private[channel_ids] = await self._snapshots.private_threaded(channel_ids)
        if not private:
            return None
        return Frame("THREAD_LIST_SYNC", await self._snapshots.threads_now(self._view, member, private))

    async def voice(self, channel_ids: frozenset[int]) -> list[Frame]:
        """VOICE_STATE_UPDATE of each of those in voice there."""
        found = self._voice.get(channel_ids)
        if found is None:
            states = await self._snapshots.voice(self._view, channel_ids)
            found = self._voice[channel_ids] = [Frame("VOICE_STATE_UPDATE", data) for data in states]
        return found

    async def gatherings(self, channel_ids: frozenset[int]) -> list[tuple[str, Frame]]:
        """STAGE_INSTANCE_CREATE of what is live there, GUILD_SCHEDULED_EVENT_CREATE of what is planned, by name."""
        found = self._gatherings.get(channel_ids)
        if found is None:
            listed = await self._snapshots.gatherings(self._view, channel_ids)
            found = self._gatherings[channel_ids] = [(name, Frame(name, data)) for name, data in listed]
        return found

    def _gone(self, channel_id: int) -> Frame:
        found = self.deleted.get(channel_id)
        if found is None:
            # Deleted meanwhile: its id is all that is left to say.
            channel = self._view.channels.get(channel_id) or ChannelView(0, {})
            found = self.deleted[channel_id] = Frame("CHANNEL_DELETE", hidden_channel(self._view, channel_id, channel))
        return found
