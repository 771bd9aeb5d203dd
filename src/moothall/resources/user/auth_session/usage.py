"""When logins were last used: recorded in memory, written every few seconds, and for each login once an hour."""

from typing import Final

from moothall.api.authenticate import Actor, TokenKind
from moothall.objects.wire import Timestamp
from moothall.resources.user.auth_session import queries
from moothall.storage.batched_writes import WriteBatcher
from moothall.storage.database import Database

HOUR_MS: Final = 3_600_000


class TokenUseRecorder(WriteBatcher[bytes]):
    """Records the hashes of session tokens that are used."""

    def __init__(self, database: Database, *, seconds: float = 5.0) -> None:
        super().__init__(quiet_ms=HOUR_MS, seconds=seconds)
        self._database = database

    def record_actor(self, actor: Actor) -> None:
        """Record the token of an actor, if it is a session of a person."""
        if actor.kind is TokenKind.SESSION:
            self.record(actor.token_hash)

    async def _write(self, keys: set[bytes], now: Timestamp) -> None:
        async with self._database.transaction() as tx:
            await queries.touch(tx, sorted(keys), now, stale=Timestamp(now - HOUR_MS))
