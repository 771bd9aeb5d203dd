"""PASSIVE_UPDATE: what sessions miss of guilds that they have not subscribed to (events: passive update).

Changes of a guild are collected for some seconds and dispatched together; sessions that see the same channels share
one frame. Of many messages in a channel only the id of the last one is sent, of many voice states of a user only the
last one.
"""

import asyncio
import logging
from collections.abc import Iterable
from typing import Final, Protocol

import msgspec
from msgspec import Raw, Struct

from moothall.bus import Envelope
from moothall.gateway.audience.guild_view import GuildView, MemberView
from moothall.gateway.delivery.hub import Hub
from moothall.gateway.protocol.capabilities import Capability
from moothall.gateway.protocol.frames import Frame
from moothall.gateway.sessions.session import Session
from moothall.objects.ids import ChannelId, GuildId, MessageId, UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.wire import decoder, encode

_log = logging.getLogger(__name__)

_SECONDS: Final = 5.0
"""Seconds for which changes are collected."""


class VoiceStateSource(Protocol):
    """What passive updates read."""

    async def voice_states(self, view: GuildView, channel_ids: frozenset[ChannelId]) -> list[bytes]:
        """The `d` of VOICE_STATE_UPDATE for each user in voice in the channels."""


class _MessageId(Struct):
    id: MessageId


class _VoiceUser(Struct):
    user_id: UserId
    channel_id: ChannelId | None = None


class _ChannelChange(Struct):
    """A new last message, and who sees the channel or thread that it is in."""

    last_message_id: MessageId
    audience_channel_id: ChannelId
    user_ids: tuple[UserId, ...]
    """The members of a private thread; empty for any other channel."""


class _VoiceChange(Struct):
    channel_id: ChannelId | None
    data: Raw


class _ChannelUnread(Struct):
    id: ChannelId
    last_message_id: MessageId


class _PassiveUpdateV1(Struct):
    guild_id: GuildId
    channels: list[_ChannelUnread]
    voice_states: list[JsonObject]
    members: list[JsonObject]


class _PassiveUpdateV2(Struct):
    guild_id: GuildId
    updated_channels: list[_ChannelUnread]
    updated_voice_states: list[JsonObject]
    removed_voice_states: list[UserId]
    updated_members: list[JsonObject]


class _Changes(Struct):
    """What has changed in a guild since its last passive update."""

    channels: dict[ChannelId, _ChannelChange] = {}
    voice_states: dict[UserId, _VoiceChange] = {}


class PassiveUpdates:
    """The changes of the guilds in which sessions of this node receive only what they have subscribed to."""

    def __init__(self, hub: Hub, source: VoiceStateSource) -> None:
        self._hub = hub
        self._source = source
        self._guilds: dict[GuildId, _Changes] = {}

    def handle_event(self, view: GuildView, envelope: Envelope) -> None:
        """Note a change of a guild that has such sessions."""
        if envelope.name == "MESSAGE_CREATE":
            channel_id = envelope.channel_id
            if channel_id is not None:
                message_id = decoder(_MessageId).decode(envelope.data).id
                self._changes(view).channels[envelope.thread_id or channel_id] = _ChannelChange(
                    message_id, channel_id, tuple(envelope.user_ids)
                )
        elif envelope.name == "VOICE_STATE_UPDATE":
            state: _VoiceUser = decoder(_VoiceUser).decode(envelope.data)
            self._changes(view).voice_states[state.user_id] = _VoiceChange(state.channel_id, Raw(bytes(envelope.data)))

    def _changes(self, view: GuildView) -> _Changes:
        changes = self._guilds.get(view.id)
        if changes is None:
            changes = self._guilds[view.id] = _Changes()
            self._hub.run_in_background(self._dispatch_after(view, _SECONDS))
        return changes

    async def _dispatch_after(self, view: GuildView, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await self.dispatch(view)

    async def dispatch(self, view: GuildView) -> None:
        """Send the sessions that have not subscribed to a guild what has changed since the last time."""
        changes = self._guilds.pop(view.id, None)
        if changes is not None:
            sessions = [session for session, interest in view.interests.items() if not interest.active]
            try:
                await self._dispatch(view, changes, sessions)
            except Exception:  # noqa: BLE001 - logged
                _log.exception("the passive update of guild %s could not be sent", view.id)
                self._hub.break_sessions(sessions, "A passive update could not be sent.")

    def catch_up(self, view: GuildView, session: Session) -> None:
        """Send a session that subscribes now what has changed until now."""
        changes = self._guilds.get(view.id)
        if changes is not None:
            snapshot = _Changes(dict(changes.channels), dict(changes.voice_states))
            self._hub.run_for_sessions((session,), self._dispatch(view, snapshot, [session]))

    async def _dispatch(self, view: GuildView, changes: _Changes, sessions: Iterable[Session]) -> None:
        frames: dict[tuple[bool, frozenset[ChannelId], frozenset[ChannelId]], Frame | None] = {}
        audiences: dict[int, list[Session]] = {}
        for session in sessions:
            member = view.members.get(session.user_id)
            if member is None:
                continue
            visible = view.visible_channels(member)
            changed = _visible_changes(view, member, visible, changes)
            v2 = bool(session.capabilities & Capability.PASSIVE_GUILD_UPDATE_V2)
            key = v2, visible, changed
            if key not in frames:
                frames[key] = await self._frame(view, changes, visible, changed, v2=v2)
            frame = frames[key]
            if frame is not None:
                audiences.setdefault(id(frame), []).append(session)
        for frame in frames.values():
            if frame is not None:
                live = [s for s in audiences[id(frame)] if view.id in s.guild_ids]
                self._hub.dispatch_frame(live, frame)

    async def _frame(
        self,
        view: GuildView,
        changes: _Changes,
        visible: frozenset[ChannelId],
        changed: frozenset[ChannelId],
        *,
        v2: bool,
    ) -> Frame | None:
        """The update for sessions that see some channels; None if nothing changed for them."""
        channels = [_ChannelUnread(each, changes.channels[each].last_message_id) for each in sorted(changed)]
        if not v2:
            if not channels and not changes.voice_states:
                return None
            states, members = _split(map(Raw, await self._source.voice_states(view, visible)))
            return Frame("PASSIVE_UPDATE_V1", encode(_PassiveUpdateV1(view.id, channels, states, members)))
        voice = changes.voice_states
        states, members = _split(change.data for change in voice.values() if change.channel_id in visible)
        # A user who moved to a hidden channel is as good as not in voice.
        removed = sorted(user_id for user_id, change in voice.items() if change.channel_id not in visible)
        if not (channels or states or removed):
            return None
        return Frame("PASSIVE_UPDATE_V2", encode(_PassiveUpdateV2(view.id, channels, states, removed, members)))


def _visible_changes(
    view: GuildView, member: MemberView, visible: frozenset[ChannelId], changes: _Changes
) -> frozenset[ChannelId]:
    """The channels and threads with new messages that a member may view."""
    managed = view.managed_channels(member)
    return frozenset(
        channel_id
        for channel_id, change in changes.channels.items()
        if change.audience_channel_id in visible
        and (not change.user_ids or member.user_id in change.user_ids or change.audience_channel_id in managed)
    )


def _split(states: Iterable[Raw]) -> tuple[list[JsonObject], list[JsonObject]]:
    """Voice states without their members, and the members."""
    decoded: list[JsonObject] = [msgspec.json.decode(state) for state in states]
    members = [state.pop("member") for state in decoded if "member" in state]
    return decoded, members
