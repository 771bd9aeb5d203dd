"""What one account may cost the gateway: sessions, IDENTIFYs, CPU time, and bytes that wait for its clients."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from moothall.gateway.delivery.hub import Hub
from moothall.gateway.protocol.identify import IdentifyLimits
from moothall.gateway.sessions.connection import Connection
from moothall.gateway.sessions.session import Session
from moothall.gateway.settings import GatewaySettings
from moothall.gateway.snapshot.ready import Identity
from moothall.objects.ids import UserId
from moothall.runtime.budgets import UNLIMITED, Allowance, Budgets, OverBudget, Payer, Rates
from moothall.runtime.fair_slots import FairSlots
from moothall.runtime.work_pool import WorkPool

IDENTIFIES_OF_PERSON: Final = Allowance(60, 1.0)
IDENTIFIES_OF_NETWORK: Final = Allowance(600, 10.0)
_MAX_DELAY: Final = 5.0
"""Maximum seconds for which a command of an account waits that has used up its CPU time."""

_STARTING_EACH: Final = 4
"""Sessions of an account that are started at once: they take turns, so that others' requests come in between."""
_UNBOUNDED: Final = 1 << 30
"""Tasks in a lane: no more than the account has connections, which are bounded."""
_PREPARING: Final = 2
"""Large frames that are compressed at once."""

End = Callable[[Session], Awaitable[None]]


class _CommandMeter:
    """Charges work of commands to accounts, and refuses none of it: the account's next command waits instead."""

    def __init__(self, budgets: Budgets) -> None:
        self._budgets = budgets

    def check(self, payer: Payer) -> None:
        """Do nothing."""

    def charge_cpu(self, payer: Payer, seconds: float) -> None:
        """Charge CPU time."""
        self._budgets.charge_cpu(payer, seconds)


class AccountBounds:
    """The bounds of all accounts on this node. `end` ends a session and its connection."""

    def __init__(
        self, settings: GatewaySettings, hub: Hub, limits: IdentifyLimits, budgets: Budgets, *, end: End
    ) -> None:
        self._settings = settings
        self._hub = hub
        self._limits = limits
        self._budgets = budgets
        self._end = end
        self.starts = FairSlots(_UNBOUNDED, waiting_max=_UNBOUNDED, waiting_each=_UNBOUNDED, each=_STARTING_EACH)
        """Held while a session starts, by account."""
        self.reads = FairSlots(_UNBOUNDED, waiting_max=_UNBOUNDED, waiting_each=_UNBOUNDED)
        """Held while members are read for a session, by account: of many sessions one reads at a time."""
        self.frames = WorkPool(
            "frames", _CommandMeter(budgets), threads=_PREPARING, waiting_max=_UNBOUNDED, waiting_each=_UNBOUNDED
        )
        """Compresses large frames of one session, one at a time for an account."""
        limited = bool(settings.identifies_per_window)
        network = IDENTIFIES_OF_NETWORK if limited else UNLIMITED
        self._identifies = Rates(
            account=IDENTIFIES_OF_PERSON if limited else UNLIMITED, network=network, anonymous=network
        )

    async def admit(self, identity: Identity, shard: tuple[int, int] | None, payer: Payer) -> bool:
        """Count an IDENTIFY; False if the account may start no session now.

        An account with as many sessions as it may have loses the one that has been without a connection for longest.
        """
        try:
            self._budgets.check(payer)
            if not identity.bot:
                self._identifies.spend(payer)
        except OverBudget:
            return False
        if identity.bot and not self._limits.allow(identity.user_id, shard):
            return False
        return await self._make_room(identity)

    async def _make_room(self, identity: Identity) -> bool:
        settings = self._settings
        limits = [settings.max_sessions_per_user, 0 if identity.bot else settings.max_sessions_per_person]
        limit = min((each for each in limits if each), default=0)
        sessions = self._hub.sessions_by_user.get(identity.user_id, ())
        if not limit or len(sessions) < limit:
            return True
        detached = [session for session in sessions if session.connection is None and session.expires_at]
        if not detached:
            return False
        await self._end(min(detached, key=lambda session: session.expires_at))
        # Another IDENTIFY may have come in while it ended.
        return len(self._hub.sessions_by_user.get(identity.user_id, ())) < limit

    async def wait_for_budget(self, payer: Payer) -> None:
        """Wait, for some seconds at the most, while an account has no CPU time left."""
        try:
            self._budgets.check(payer)
        except OverBudget as over:
            await asyncio.sleep(min(over.seconds, _MAX_DELAY))

    def charge(self, payer: Payer, seconds: float) -> None:
        """Charge the CPU time of a command."""
        self._budgets.charge_cpu(payer, seconds)

    async def enforce_bytes(self) -> None:
        """End the most costly sessions of each account for which more bytes are held than it may have.

        Counted are the replay buffers, the queues of clients that do not read, and what the system has not sent yet.
        """
        limit = self._settings.account_bytes
        if not limit:
            return
        few = limit // (self._settings.queue_bytes + self._settings.replay_bytes)
        for user_id in [user_id for user_id, each in self._hub.sessions_by_user.items() if len(each) > few]:
            await self._enforce_bytes_of(user_id, limit)

    async def _enforce_bytes_of(self, user_id: UserId, limit: int) -> None:
        sizes = {session: undelivered_bytes(session) for session in self._hub.sessions_by_user.get(user_id, ())}
        total = sum(sizes.values())
        for session in sorted(sizes, key=sizes.__getitem__, reverse=True):
            if total <= limit:
                return
            total -= sizes[session]
            await self._end(session)


def undelivered_bytes(session: Session) -> int:
    """Bytes that a session's client has not received or not acknowledged."""
    connection = session.connection
    unsent = connection.send_queue.unsent_bytes if isinstance(connection, Connection) else 0
    return session.replay_bytes + unsent
