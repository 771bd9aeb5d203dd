"""Opcode 6: a session goes on with another connection, which is sent what its client has missed."""

from typing import Final

from moothall.gateway.commands.authentication import Authentication, payer_of
from moothall.gateway.delivery.hub import Hub
from moothall.gateway.protocol.commands import ResumeCommand
from moothall.gateway.protocol.opcodes import RESUMABLE, CloseCode, CloseConnection
from moothall.gateway.session_ends import SessionEnds
from moothall.gateway.sessions.connection import Connection
from moothall.gateway.sessions.session import Session
from moothall.gateway.sessions.unidentified import UnidentifiedConnections
from moothall.gateway.snapshot.ready import trace
from moothall.objects.clock import stopwatch
from moothall.runtime.turns import yield_turn

_ENDED_ELSEWHERE: Final = "Another connection could not resume the session."
_REPLAYED_AT_ONCE: Final = 32
"""Missed dispatches that are sent without a break for other tasks."""


class SessionResumes:
    """Attaches connections to the sessions of this node."""

    def __init__(
        self, hub: Hub, authentication: Authentication, ends: SessionEnds, unidentified: UnidentifiedConnections
    ) -> None:
        self._hub = hub
        self._authentication = authentication
        self._ends = ends
        self._unidentified = unidentified

    async def resume(self, connection: Connection, command: ResumeCommand) -> None:
        """Opcode 6: send the missed dispatches in order, then RESUMED; or opcode 9. Raises CloseConnection.

        Heartbeats are answered meanwhile. Dispatches of the time that it takes are sent in their order, before RESUMED.
        """
        started = stopwatch()
        identity = await self._authentication.identify(command.token)
        session = self._hub.sessions.get(command.session_id)
        # Not the user alone: a session lasts no longer than the login that started it.
        if session is None or session.token_hash != identity.token_hash or not session.resumable:
            connection.send_invalid_session(resumable=False)
            return
        # The session may have another connection: this one can be older, and its RESUME late.
        if command.seq > session.seq or command.seq < 0:
            await self._ends.invalidate_now(session, _ENDED_ELSEWHERE)
            raise CloseConnection(CloseCode.INVALID_SEQ, "Invalid seq.")
        if session.frames_after(command.seq) is None:
            await self._ends.invalidate_now(session, _ENDED_ELSEWHERE)
            connection.send_invalid_session(resumable=False)
            return
        previous = session.connection
        connection.payer = payer_of(connection, identity)
        self._ends.detached.discard(session)
        connection.session = session
        self._unidentified.release(connection)
        connection.replaying = True
        session.connection = connection
        if isinstance(previous, Connection):
            previous.close(RESUMABLE, "The session was resumed elsewhere.")
        self._hub.run_for_sessions((session,), self._replay(connection, session, command.seq, started))

    async def _replay(self, connection: Connection, session: Session, seq: int, started: float) -> None:
        """Send the dispatches after a sequence number, no faster than the client reads, then RESUMED.

        A client that falls so far behind meanwhile that the replay buffer drops some must identify anew.
        """
        queue = connection.send_queue
        while frames := session.frames_after(seq):
            for frame in frames[:_REPLAYED_AT_ONCE]:
                if not queue.has_room(frame.size):
                    await queue.drain()
                    break
                seq += 1
                connection.replay(seq, frame)
            await yield_turn()
            if session.connection is not connection or queue.closed or session.broken:
                return
        if frames is None:
            self._ends.invalidate((session,), "Too many events came while missed ones were sent.")
            return
        connection.replaying = False
        self._hub.send(session, "RESUMED", b'{"_trace":%b}' % trace(stopwatch() - started))
