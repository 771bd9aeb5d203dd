"""Who a client is, by the token of its IDENTIFY or RESUME."""

from moothall.gateway.protocol.opcodes import CloseCode, CloseConnection
from moothall.gateway.sessions.callbacks import GatewayCallbacks
from moothall.gateway.sessions.connection import Connection
from moothall.gateway.snapshot.ready import Identity
from moothall.gateway.snapshot.source import GatewaySource
from moothall.runtime.budgets import Payer


class Authentication:
    """Finds the user or bot of a token."""

    def __init__(self, source: GatewaySource, callbacks: GatewayCallbacks) -> None:
        self._source = source
        self._callbacks = callbacks

    async def identify(self, token: str) -> Identity:
        """The identity of a token, with or without the word Bot before it. Raises CloseConnection."""
        scheme, _, rest = token.partition(" ")
        identity = await self._source.identity(rest.strip() if rest and scheme.lower() == "bot" else token.strip())
        if identity is None:
            raise CloseConnection(CloseCode.AUTHENTICATION_FAILED, "Authentication failed.")
        if self._callbacks.on_token_use is not None and not identity.bot:
            self._callbacks.on_token_use(identity.token_hash)
        return identity

    async def check_login(self, token: str) -> None:
        """Raise CloseConnection for a login that ended before its session was registered, and so without closing it.

        With a database that is read without a break, it cannot have ended meanwhile.
        """
        if not self._source.embedded:
            await self.identify(token)


def payer_of(connection: Connection, identity: Identity) -> Payer:
    """Whom the commands of a connection are charged to: its account, and the network that it comes from."""
    network = connection.network or ""
    return Payer(identity.user_id, network, loopback=not network)
