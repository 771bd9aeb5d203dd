"""Channels that a change reveals to members or hides from them, and the frames that say so."""

from collections.abc import Iterable

from msgspec import Struct

from moothall.gateway.audience.guild_view import ChannelView, GuildView, MemberView
from moothall.gateway.protocol.frames import Frame
from moothall.gateway.snapshot.source import GuildSource
from moothall.objects.activity import EmbeddedActivityInstance
from moothall.objects.ids import ChannelId, GuildId
from moothall.objects.wire import encode


def activity_frames(instance: EmbeddedActivityInstance) -> list[Frame]:
    """Both events of an Activity instance."""
    return [
        Frame("EMBEDDED_ACTIVITY_UPDATE", encode(instance.update())),
        Frame("EMBEDDED_ACTIVITY_UPDATE_V2", encode(instance)),
    ]


class VisibilitySnapshot:
    """The channels that members see before a change, to compare with those that they see after it."""

    def __init__(self, view: GuildView, members: Iterable[MemberView]) -> None:
        self._view = view
        self._before = [(member, view.visible_channels(member), view.managed_channels(member)) for member in members]

    def visibility_changes(self) -> list[tuple[MemberView, frozenset[ChannelId], frozenset[ChannelId]]]:
        """The members who see other channels than before, each with the channels hidden and those revealed."""
        view = self._view
        changes: list[tuple[MemberView, frozenset[ChannelId], frozenset[ChannelId]]] = []
        # Many members share one set before and one after: each pair is compared once.
        compared: dict[tuple[int, int], tuple[frozenset[ChannelId], frozenset[ChannelId]]] = {}
        for member, before, _ in self._before:
            after = view.visible_channels(member)
            if after is before:
                continue
            key = (id(before), id(after))
            pair = compared.get(key)
            if pair is None:
                pair = compared[key] = (before - after, after - before)
            if pair[0] or pair[1]:
                changes.append((member, *pair))
        return changes

    def thread_management_changes(self) -> list[tuple[MemberView, frozenset[ChannelId]]]:
        """The members who gained or lost MANAGE_THREADS in channels that they see before and after, with these."""
        view = self._view
        changes: list[tuple[MemberView, frozenset[ChannelId]]] = []
        for member, visible_before, before in self._before:
            after = view.managed_channels(member)
            if after is not before and (changed := (before ^ after) & visible_before & view.visible_channels(member)):
                changes.append((member, changed))
        return changes


class HiddenChannel(Struct):
    """A channel of CHANNEL_DELETE for a session that may no longer view it: no field that it did not know."""

    id: ChannelId
    guild_id: GuildId
    type: int
    name: str
    position: int
    parent_id: ChannelId | None
    permission_overwrites: list[object] = []
    nsfw: bool = False
    flags: int = 0
    topic: str | None = None
    last_message_id: str | None = None
    rate_limit_per_user: int = 0
    bitrate: int = 64_000
    user_limit: int = 0


def hidden_channel(view: GuildView, channel_id: ChannelId, channel: ChannelView) -> bytes:
    """The `d` of CHANNEL_DELETE for sessions that may no longer view a channel."""
    return encode(
        HiddenChannel(
            id=channel_id,
            guild_id=view.id,
            type=channel.type,
            name=channel.name,
            position=channel.position,
            parent_id=channel.parent_id,
        )
    )


class VisibilityFrames:
    """Frames for channels that one change of a guild reveals or hides, each encoded once for all sessions."""

    def __init__(self, view: GuildView, source: GuildSource) -> None:
        self._view = view
        self._source = source
        self.created: dict[ChannelId, Frame] = {}
        """CHANNEL_CREATE by channel."""
        self.deleted: dict[ChannelId, Frame] = {}
        """CHANNEL_DELETE by channel."""
        self._with_threads: dict[frozenset[ChannelId], frozenset[ChannelId]] = {}
        self._with_private_threads: dict[frozenset[ChannelId], frozenset[ChannelId]] = {}
        self._voice_states: dict[frozenset[ChannelId], list[Frame]] = {}
        self._stages_and_events: dict[frozenset[ChannelId], list[tuple[str, Frame]]] = {}
        self._activities: dict[ChannelId, list[Frame]] | None = None

    async def load(self, channel_ids: frozenset[ChannelId]) -> None:
        """Read the channels to reveal."""
        if channel_ids:
            objects = await self._source.channel_objects(self._view.id, channel_ids)
            self.created = {channel_id: Frame("CHANNEL_CREATE", data) for channel_id, data in objects.items()}

    def channel_create(self, channel_ids: Iterable[ChannelId]) -> list[Frame]:
        """CHANNEL_CREATE of each channel that still exists, oldest first."""
        return [self.created[channel_id] for channel_id in sorted(channel_ids) if channel_id in self.created]

    def channel_delete(self, channel_ids: Iterable[ChannelId]) -> list[Frame]:
        """CHANNEL_DELETE of each channel, oldest first."""
        return [self._channel_delete(channel_id) for channel_id in sorted(channel_ids)]

    async def thread_list_sync(self, member: MemberView, channel_ids: frozenset[ChannelId]) -> Frame | None:
        """THREAD_LIST_SYNC for a member to whom channels are revealed; None if they can reach no thread there."""
        parent_ids = self._with_threads.get(channel_ids)
        if parent_ids is None:
            parent_ids = self._with_threads[channel_ids] = await self._source.channels_with_threads(channel_ids)
        if not parent_ids:
            return None
        data = await self._source.thread_list_sync(self._view, member, parent_ids, allow_empty=False)
        return None if data is None else Frame("THREAD_LIST_SYNC", data)

    async def private_thread_list_sync(self, member: MemberView, channel_ids: frozenset[ChannelId]) -> Frame | None:
        """THREAD_LIST_SYNC for a member who can reach other private threads than before; None if there are none."""
        parent_ids = self._with_private_threads.get(channel_ids)
        if parent_ids is None:
            parent_ids = await self._source.channels_with_private_threads(channel_ids)
            self._with_private_threads[channel_ids] = parent_ids
        if not parent_ids:
            return None
        data = await self._source.thread_list_sync(self._view, member, parent_ids, allow_empty=True)
        return None if data is None else Frame("THREAD_LIST_SYNC", data)

    async def voice_states(self, channel_ids: frozenset[ChannelId]) -> list[Frame]:
        """VOICE_STATE_UPDATE of each user in the channels."""
        frames = self._voice_states.get(channel_ids)
        if frames is None:
            states = await self._source.voice_states(self._view, channel_ids)
            frames = self._voice_states[channel_ids] = [Frame("VOICE_STATE_UPDATE", data) for data in states]
        return frames

    async def stages_and_events(self, channel_ids: frozenset[ChannelId]) -> list[tuple[str, Frame]]:
        """STAGE_INSTANCE_CREATE and GUILD_SCHEDULED_EVENT_CREATE of the channels, each with its name."""
        frames = self._stages_and_events.get(channel_ids)
        if frames is None:
            events = await self._source.stages_and_events(self._view, channel_ids)
            frames = self._stages_and_events[channel_ids] = [(name, Frame(name, data)) for name, data in events]
        return frames

    async def activity_updates(self, member: MemberView, channel_ids: frozenset[ChannelId]) -> list[Frame]:
        """The events of each Activity instance in the channels and in their threads that a member can reach."""
        if self._activities is None:
            instances = await self._source.activity_instances(self._view.id)
            self._activities = {
                channel_id: [frame for instance in listed for frame in activity_frames(instance)]
                for channel_id, listed in instances.items()
            }
        if not self._activities:
            return []
        if any(channel_id not in self._view.channels for channel_id in self._activities):
            channel_ids |= await self._source.thread_ids(self._view, member, channel_ids)
        activities = self._activities
        return [frame for channel_id in sorted(channel_ids) for frame in activities.get(channel_id, ())]

    def _channel_delete(self, channel_id: ChannelId) -> Frame:
        frame = self.deleted.get(channel_id)
        if frame is None:
            # A channel deleted meanwhile has no fields left but its id.
            channel = self._view.channels.get(channel_id) or ChannelView(0, {})
            frame = Frame("CHANNEL_DELETE", hidden_channel(self._view, channel_id, channel))
            self.deleted[channel_id] = frame
        return frame
