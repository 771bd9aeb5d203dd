"""Bugs that are planted to see that the simulation finds them."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final
from unittest import mock

from moothall.gateway.connection import Connection
from moothall.gateway.dispatcher import Dispatcher
from moothall.gateway.frames import Frame
from moothall.gateway.guild_events import GuildEventHandler
from moothall.gateway.guild_view import GuildView
from moothall.gateway.hub import Hub
from moothall.gateway.joining import Joining
from moothall.gateway.node import GatewayNode
from moothall.gateway.session import Session
from moothall.gateway.unidentified import UnidentifiedConnections
from moothall.storage.postgres_outcomes import Outcomes
from tests.simulation.gateway.platform import NodeBus, Platform

_frames_after = Session.frames_after
_audience = GuildView.audience
_private_thread_audience = GuildView.private_thread_audience
_finish_joining = Hub.finish_joining
_dispatch = Connection.dispatch
_acknowledge = Session.acknowledge
_publish = NodeBus.publish


def _replay_without_the_first(session: Session, seq: int) -> list[Frame] | None:
    frames = _frames_after(session, seq)
    return frames[1:] if frames else frames


def _replay_what_is_left(session: Session, seq: int) -> list[Frame] | None:
    frames = list(session.replay_buffer or ())
    return frames[-(session.seq - seq) :] if session.seq > seq else []


def _audience_of_the_guild(view: GuildView, channel_id: Any, permission: int, intent: int) -> list[Session]:
    del channel_id
    return _audience(view, None, permission, intent)


def _audience_of_the_channel(view: GuildView, channel_id: Any, intent: int, user_ids: Any) -> list[Session]:
    del user_ids
    return _audience(view, channel_id, 0, intent)


async def _forget_pending(hub: Hub, joining: Joining) -> None:
    joining.pending.clear()
    await _finish_joining(hub, joining)


async def _never_committed(*_: Any) -> bool:
    return False


async def _nothing_async(*_: Any, **__: Any) -> None:
    pass


def _nothing(*_: Any, **__: Any) -> None:
    pass


def _dispatch_to_closed_transport(connection: Connection, seq: int, frame: Frame) -> None:
    socket = connection.send_queue.socket
    if getattr(socket, "transport").closed:  # noqa: B009 - the socket has no type
        raise RuntimeError("the handler is closed")
    _dispatch(connection, seq, frame)


def _dispatch_without_boundary(
    dispatcher: Dispatcher, audience: Sequence[Session], full: Frame, stripped: Frame | None, exempt: Any
) -> None:
    del stripped, exempt
    try:
        for session in audience:
            session.dispatch(full, dispatcher._max_frames, dispatcher._max_bytes)
    except RuntimeError:
        pass


def _acknowledge_one_more(session: Session, seq: int) -> None:
    _acknowledge(session, seq + 1)


def _publish_again(bus: NodeBus, envelopes: Any) -> None:
    _publish(bus, envelopes)
    _publish(bus, [each for each in envelopes if each.name == "MESSAGE_CREATE"])


def _patch(owner: Any, name: str, value: Any) -> Callable[[], AbstractContextManager[Any]]:
    return lambda: mock.patch.object(owner, name, value)


class _ResetAbandonsAudience(AbstractContextManager[None]):
    """A closed connection raises, and the rest of the audience is abandoned."""

    def __enter__(self) -> None:
        self._patches: list[Any] = [
            mock.patch.object(Connection, "dispatch", _dispatch_to_closed_transport),
            mock.patch.object(Dispatcher, "_dispatch_now", _dispatch_without_boundary),
        ]
        for patch in self._patches:
            patch.start()

    def __exit__(self, *_: object) -> None:
        for patch in self._patches:
            patch.stop()


MUTANTS: Final[dict[str, Callable[[], AbstractContextManager[Any]]]] = {
    "a reset connection abandons the rest of the audience": _ResetAbandonsAudience,
    "RESUME leaves out the first missed event": _patch(Session, "frames_after", _replay_without_the_first),
    "RESUME replays what is left of a buffer that overflowed": _patch(Session, "frames_after", _replay_what_is_left),
    "a heartbeat acknowledges one event too many": _patch(Session, "acknowledge", _acknowledge_one_more),
    "the audience of a channel is the whole guild": _patch(GuildView, "audience", _audience_of_the_guild),
    "private threads are heard by the whole channel": _patch(
        GuildView, "private_thread_audience", _audience_of_the_channel
    ),
    "events while a guild is read are forgotten": _patch(Hub, "finish_joining", _forget_pending),
    "channels that a change reveals are not announced": _patch(
        GuildEventHandler, "_dispatch_visibility_changes", _nothing_async
    ),
    "sessions that missed an event are not told": _patch(Hub, "break_sessions", _nothing),
    "a lost COMMIT counts as not committed": _patch(Outcomes, "was_committed", _never_committed),
    "sessions are not told of a late commit": _patch(Platform, "_invalidate_all", _nothing),
    "a gap of the bus is not noticed": _patch(GatewayNode, "invalidate_sessions", _nothing),
    "a connection that ends counts as unidentified": _patch(UnidentifiedConnections, "remove", _nothing),
    "a published batch arrives twice": _patch(NodeBus, "publish", _publish_again),
    "views of guilds are never dropped": _patch(Hub, "_drop_if_unused", _nothing),
    "a session is not removed from the guild that its user left": _patch(Hub, "_unsubscribe", _nothing),
}
"""Each bug by what it does, as a context manager that plants it."""
