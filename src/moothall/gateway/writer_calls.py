"""What happens on the sessions of a worker and changes the database: the process that writes does it.

A worker publishes each call as a NODE envelope on the bus. The process that writes makes the calls one after another,
so those of a session keep their order.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Final

from msgspec import DecodeError, Raw, Struct

from moothall.api.authenticate import Actor, TokenKind
from moothall.bus import Audience, Bus, Envelope
from moothall.gateway.sessions.callbacks import GatewayCallbacks, VoiceStateRequest
from moothall.objects.ids import GuildId, UserId
from moothall.objects.wire import Timestamp, decoder, encode
from moothall.runtime.background import PeriodicTask
from moothall.storage.batched_writes import WriteBatcher

log = logging.getLogger("moothall.workers")

_NAME: Final = "WRITER_CALL"
_HOUR_MS: Final = 3_600_000


class VoiceCall(Struct, tag="voice"):
    """Opcode 4 of a session on a node."""

    request: VoiceStateRequest
    node: str


class SessionEndCall(Struct, tag="end"):
    """A session has ended."""

    user_id: UserId
    session_id: str


class OfflineCall(Struct, tag="offline"):
    """A user's last session has ended."""

    user_id: UserId


class IdentifyCall(Struct, tag="identify"):
    """A user has started a session."""

    user_id: UserId


class TokensCall(Struct, tag="tokens"):
    """Logins were used: the hexadecimal hashes of their tokens."""

    hashes: list[str]


class LeaveActivitiesCall(Struct, tag="leave"):
    """A session that took part in an Activity has ended, or lost its client."""

    user_id: UserId
    session_id: str


class CheckActivitiesCall(Struct, tag="check"):
    """Permissions in a guild, or in direct messages, have changed, which participants on a node may have lost."""

    node: str
    guild_id: GuildId | None


WriterCall = (
    VoiceCall | SessionEndCall | OfflineCall | IdentifyCall | TokensCall | LeaveActivitiesCall | CheckActivitiesCall
)


def publish_call(bus: Bus, call: WriterCall) -> None:
    """Let the process that writes make a call."""
    bus.publish([Envelope(name=_NAME, data=Raw(encode(call)), audience=Audience.NODE)])


class UsedTokens(WriteBatcher[bytes]):
    """Records the logins that a worker sees, as `TokenUseRecorder` does for the process that writes."""

    def __init__(self, bus: Bus, *, seconds: float = 5.0) -> None:
        super().__init__(quiet_ms=_HOUR_MS, seconds=seconds)
        self._bus = bus

    def record_actor(self, actor: Actor) -> None:
        """Record the token of an actor, if it is a session of a person."""
        if actor.kind is TokenKind.SESSION:
            self.record(actor.token_hash)

    async def _write(self, keys: set[bytes], now: Timestamp) -> None:
        del now
        publish_call(self._bus, TokensCall([key.hex() for key in sorted(keys)]))


class ConnectedTokens(PeriodicTask):
    """Records the tokens of open sessions every `seconds`: such a login is in use. `connected` returns them."""

    def __init__(self, used: UsedTokens, connected: Callable[[], Iterable[bytes]], *, seconds: float = 600.0) -> None:
        super().__init__(seconds=seconds)
        self._used = used
        self._connected = connected

    async def _round(self) -> bool:
        for token_hash in self._connected():
            self._used.record(token_hash)
        return False


def worker_callbacks(
    bus: Bus,
    node: str,
    used: UsedTokens,
    leave_activities: Callable[[UserId, str], Awaitable[None]],
    time_out_activity: Callable[[UserId, str], Awaitable[None]],
) -> GatewayCallbacks:
    """The callbacks of a worker's gateway node of this name."""

    async def update_voice_state(request: VoiceStateRequest) -> None:
        publish_call(bus, VoiceCall(request, node))

    async def end_session(user_id: UserId, session_id: str) -> None:
        await leave_activities(user_id, session_id)
        publish_call(bus, SessionEndCall(user_id, session_id))

    async def identify(user_id: UserId) -> None:
        publish_call(bus, IdentifyCall(user_id))

    async def offline(user_id: UserId, _guild_ids: frozenset[GuildId]) -> None:
        publish_call(bus, OfflineCall(user_id))

    return GatewayCallbacks(
        on_voice_state_update=update_voice_state,
        on_session_end=end_session,
        on_activity_timeout=time_out_activity,
        on_identify=identify,
        on_offline=offline,
        on_token_use=used.record,
    )


class WriterCalls:
    """Makes the calls of workers, one after another, by a function for each kind of call."""

    def __init__(self, bus: Bus, functions: dict[type[object], Callable[[Any], Awaitable[None]]]) -> None:
        self._functions = functions
        self._queue: asyncio.Queue[Callable[[], Awaitable[None]]] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        bus.subscribe(self._receive)

    def start(self) -> None:
        """Start making calls."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Make the calls that have arrived, and stop."""
        if self._task is not None:
            await self._queue.join()
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    def add(self, call: Callable[[], Awaitable[None]]) -> None:
        """Make a call after those that have arrived."""
        self._queue.put_nowait(call)

    def _receive(self, envelopes: Sequence[Envelope]) -> None:
        for envelope in envelopes:
            if envelope.audience is Audience.NODE and envelope.name == _NAME:
                try:
                    call = decoder(WriterCall).decode(envelope.data)
                    function = self._functions[type(call)]
                except (DecodeError, KeyError):
                    log.exception("a call of a worker cannot be read")
                    continue
                self.add(lambda function=function, call=call: function(call))  # type: ignore[misc]

    async def _run(self) -> None:
        while True:
            call = await self._queue.get()
            try:
                await call()
            except Exception:
                log.exception("a call of a worker failed")
            finally:
                self._queue.task_done()
