"""When logins were last used: noted in memory, written every few seconds, and for each login once an hour."""

from typing import Final

from moothall.kernel.authenticate import Actor, TokenKind
from moothall.kernel.noting import NoteBook
from moothall.objects.wire import Timestamp
from moothall.resources.user.auth_session import queries
from moothall.storage.database import Database

HOUR_MS: Final = 3_600_000


class UsageBook(NoteBook[bytes]):
    """Notes the hashes of session tokens that are used."""

    def __init__(self, database: Database, *, seconds: float = 5.0) -> None:
        super().__init__(quiet_ms=HOUR_MS, seconds=seconds)
        self._database = database

    def used(self, actor: Actor) -> None:
        """A token was used; only sessions of people are noted."""
        if actor.kind is TokenKind.SESSION:
            self.note(actor.token_hash)

    async def _write(self, keys: set[bytes], now: Timestamp) -> None:
        async with self._database.transaction() as tx:
            await queries.touch(tx, sorted(keys), now, stale=Timestamp(now - HOUR_MS))
