"""How sessions end: by their clients, by time, by what they cost, or because they may have missed an event."""

import asyncio
import logging
from collections.abc import Collection

from moothall.gateway.delivery.hub import Hub
from moothall.gateway.delivery.invalidation import Invalidations
from moothall.gateway.presence.local import Presences
from moothall.gateway.protocol.opcodes import RESUMABLE, CloseCode
from moothall.gateway.sessions.callbacks import GatewayCallbacks, log_errors
from moothall.gateway.sessions.connection import Connection
from moothall.gateway.sessions.control_messages import SessionsClose
from moothall.gateway.sessions.session import Session
from moothall.gateway.settings import GatewaySettings

_log = logging.getLogger(__name__)


class SessionEnds:
    """Ends the sessions of this node, and knows those that have no connection and may still be resumed."""

    def __init__(self, settings: GatewaySettings, hub: Hub, presences: Presences, callbacks: GatewayCallbacks) -> None:
        self._settings = settings
        self._hub = hub
        self._presences = presences
        self._callbacks = callbacks
        self.detached: set[Session] = set()
        """Sessions without a connection."""
        self.dropped = 0
        """Connections that the server closed because their client did not read or sent no heartbeat."""
        self.invalidations = Invalidations(self.invalidate_now)

    async def end(self, session: Session) -> None:
        """End a session, which cannot be resumed then. Does nothing the second time."""
        self.detached.discard(session)
        if session.id not in self._hub.sessions:
            return
        # Removing the session clears its guilds, to which the presence is announced.
        guild_ids = frozenset(session.guild_ids)
        last = self._hub.remove(session)
        try:
            self._presences.update(session.user_id, guild_ids)
            if not session.bot:
                self._presences.announce_sessions(session.user_id)
        except Exception:  # noqa: BLE001 - logged
            _log.exception("the end of a session of user %s could not be announced", session.user_id)
        callbacks = self._callbacks
        if callbacks.on_session_end is not None:
            await log_errors(callbacks.on_session_end(session.user_id, session.id))
        if last and callbacks.on_offline is not None and not self._presences.is_connected(session.user_id):
            await log_errors(callbacks.on_offline(session.user_id, guild_ids))

    async def drop(self, session: Session) -> None:
        """End a session and its connection, which costs too much."""
        connection = session.connection
        await self.end(session)
        if isinstance(connection, Connection):
            self.dropped += 1
            connection.send_queue.abort()

    async def detach(self, connection: Connection, *, end_session: bool) -> None:
        """A connection has ended: its session ends too, or waits for a RESUME."""
        session = connection.session
        if session is None or session.connection is not connection:
            return
        session.connection = None
        if end_session or not session.resumable:
            await self.end(session)
        elif session.id in self._hub.sessions:
            session.expires_at = asyncio.get_running_loop().time() + self._settings.resume_seconds
            self.detached.add(session)

    def invalidate(self, sessions: Collection[Session], reason: str) -> None:
        """Let the clients of sessions that may have missed an event identify anew, at a bearable pace."""
        self.invalidations.add(sessions, reason)

    def invalidate_all(self, reason: str) -> None:
        """The same for all sessions of this node."""
        sessions = list(self._hub.sessions.values())
        if sessions:
            _log.warning("%d sessions of this process identify anew: %s", len(sessions), reason)
        self.invalidate(sessions, reason)

    async def invalidate_now(self, session: Session, reason: str) -> None:
        """Let the client of a session identify anew, and end the session."""
        connection = session.connection
        if isinstance(connection, Connection):
            connection.send_invalid_session(resumable=False)
            connection.close(RESUMABLE, reason)
        await self.end(session)

    async def close(self, message: SessionsClose) -> None:
        """End the sessions of a login or of all logins of a user, with their connections."""
        for session in list(self._hub.sessions_by_user.get(message.user_id, ())):
            if message.token_hash is None or session.token_hash.hex() == message.token_hash:
                # First the connection: what follows from a session's end may take long, or fail.
                if isinstance(session.connection, Connection):
                    session.connection.close(CloseCode.AUTHENTICATION_FAILED, "Authentication failed.")
                await self.end(session)

    async def end_expired(self, now: float) -> None:
        """End the sessions that no connection has resumed in time, by the event loop's time."""
        for session in [session for session in self.detached if session.expires_at <= now]:
            try:
                await self.end(session)
            except Exception:  # noqa: BLE001 - logged
                _log.exception("an expired session of user %s could not be ended", session.user_id)

    async def leave_activities(self, lost: Collection[Session], lost_before: float) -> None:
        """Let sessions leave their Activity: some that are lost, and those without a connection since a time."""
        callback = self._callbacks.on_activity_timeout
        resume_seconds = self._settings.resume_seconds
        silent = [each for each in self.detached if each.expires_at - resume_seconds <= lost_before]
        for session in (*lost, *silent):
            if session.embedded_activity is None or callback is None or _is_connected(session):
                continue  # a session may be resumed while others leave
            await log_errors(callback(session.user_id, session.id))


def _is_connected(session: Session) -> bool:
    """Whether a session has a connection that is not being closed."""
    connection = session.connection
    return isinstance(connection, Connection) and not connection.send_queue.closed
