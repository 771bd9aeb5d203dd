"""Which sessions of this node take part in Activities: shown in presences, ended with session or permission."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from moothall.api.context import Services
from moothall.bus import Audience, Bus, Envelope
from moothall.gateway.node import GatewayNode
from moothall.gateway.writer_calls import CheckActivitiesCall, LeaveActivitiesCall, publish_call
from moothall.objects.ids import ActivityInstanceId, GuildId, UserId
from moothall.objects.presence import Activity
from moothall.objects.wire import decoder
from moothall.resources.activity.operations import leave_activities, leave_forbidden

log = logging.getLogger("moothall.activities")

_MESSAGE: Final = "ACTIVITY_SESSION"
_CHECK_DELAY: Final = 0.2
"""Seconds from a change of permissions to the check of participants, so that several changes cause one check."""
_CHECKED_AFTER: Final = frozenset(
    {
        "CHANNEL_DELETE", "CHANNEL_RECIPIENT_REMOVE", "CHANNEL_UPDATE", "GUILD_DELETE", "GUILD_MEMBER_REMOVE",
        "GUILD_MEMBER_UPDATE", "GUILD_ROLE_DELETE", "GUILD_ROLE_UPDATE", "GUILD_UPDATE", "THREAD_DELETE",
        "THREAD_MEMBERS_UPDATE", "VOICE_STATE_UPDATE",
    }
)  # fmt: skip
"""The events that may take a permission or a channel away from participants."""


class ActivitySession(Struct):
    """Data of ACTIVITY_SESSION: a session takes part in an instance; without an activity, no longer."""

    user_id: UserId
    session_id: str
    instance_id: ActivityInstanceId
    node: str
    in_guild: GuildId | None = None
    activity: Activity | None = None


class ActivitySessions:
    """Follows the sessions of a node that take part in Activities. `node` is its name in the participants' rows.

    With `writes_elsewhere` another process makes the changes.
    """

    def __init__(
        self, services: Services, gateway: GatewayNode, bus: Bus, node: str, *, writes_elsewhere: bool = False
    ) -> None:
        self._services = services
        self._bus = bus
        self._writes_elsewhere = writes_elsewhere
        self._gateway = gateway
        self._node = node
        self._joined: dict[str, tuple[ActivityInstanceId, GuildId | None]] = {}
        """The instance of each session that takes part in one, and its guild."""
        self._due: dict[GuildId | None, asyncio.TimerHandle] = {}
        """The next check of each guild; None is that of direct messages."""
        bus.subscribe(self._receive)

    async def end_session(self, user_id: UserId, session_id: str) -> None:
        """Leave the instance of a session that has ended."""
        if self._joined.pop(session_id, None) is not None:
            await self._leave(user_id, session_id)

    async def time_out(self, user_id: UserId, session_id: str) -> None:
        """Leave the instance of a session that lost its connection. A resumed session receives the events of that."""
        if session_id in self._joined:
            await self._leave(user_id, session_id)

    def close(self) -> None:
        """Cancel the checks that are due."""
        for timer in self._due.values():
            timer.cancel()
        self._due.clear()

    def _receive(self, envelopes: Sequence[Envelope]) -> None:
        for envelope in envelopes:
            if envelope.audience is Audience.NODE:
                if envelope.name == _MESSAGE:
                    try:
                        self._update_session(decoder(ActivitySession).decode(envelope.data))
                    except Exception:  # one envelope's failure must not affect the others
                        log.exception("the Activity of a session could not be set")
            elif self._joined and envelope.name in _CHECKED_AFTER:
                self._schedule_check(envelope.guild_id)

    def _update_session(self, message: ActivitySession) -> None:
        session = self._gateway.hub.sessions.get(message.session_id)
        if session is None or session.user_id != message.user_id:
            # Only the node that a participant's row names may know that the session ended before it was stored.
            if message.activity is not None and message.node == self._node:
                self._gateway.hub.run_in_background(self._leave(message.user_id, message.session_id))
            return
        if message.activity is not None:
            self._joined[session.id] = (message.instance_id, message.in_guild)
        elif self._joined.get(session.id, (message.instance_id, None))[0] != message.instance_id:
            return  # it has joined another instance since
        else:
            self._joined.pop(session.id, None)
        session.embedded_activity = message.activity
        self._gateway.presences.update(session.user_id)

    def _schedule_check(self, guild_id: GuildId | None) -> None:
        if guild_id in self._due or all(joined[1] != guild_id for joined in self._joined.values()):
            return
        loop = asyncio.get_running_loop()
        self._due[guild_id] = loop.call_later(_CHECK_DELAY, self._check, guild_id)

    def _check(self, guild_id: GuildId | None) -> None:
        self._due.pop(guild_id, None)
        self._gateway.hub.run_in_background(self._leave_forbidden(guild_id))

    async def _leave(self, user_id: UserId, session_id: str) -> None:
        if self._writes_elsewhere:
            publish_call(self._bus, LeaveActivitiesCall(user_id, session_id))
        else:
            await leave_activities(self._services, user_id, session_id)

    async def _leave_forbidden(self, guild_id: GuildId | None) -> None:
        if self._writes_elsewhere:
            publish_call(self._bus, CheckActivitiesCall(self._node, guild_id))
        else:
            await leave_forbidden(self._services, self._node, guild_id)
