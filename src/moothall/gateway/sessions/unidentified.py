"""Connections that have not identified yet. Their number is limited, since opening one needs no token."""

from moothall.gateway.sessions.connection import Connection


class UnidentifiedConnections:
    """Counts connections without a session, in total and by the network that they come from."""

    __slots__ = ("_by_network", "_max", "_max_per_network", "count")

    def __init__(self, maximum: int, max_per_network: int) -> None:
        self._max = maximum
        self._max_per_network = max_per_network
        self._by_network: dict[str, int] = {}
        self.count = 0

    def try_add(self, network: str) -> bool:
        """Count a new connection; False, without counting it, if a limit is reached.

        The network "" is loopback, which has no limit of its own.
        """
        count = self._by_network.get(network, 0)
        if self.count >= self._max or (network and count >= self._max_per_network):
            return False
        self.count += 1
        self._by_network[network] = count + 1
        return True

    def remove(self, network: str) -> None:
        """Count a connection of a network no longer: it has closed or identified."""
        self.count -= 1
        count = self._by_network[network] - 1
        if count:
            self._by_network[network] = count
        else:
            del self._by_network[network]

    def release(self, connection: Connection) -> None:
        """Count a connection no longer: it has a session, or it has ended. Does nothing the second time."""
        if connection.network is not None:
            self.remove(connection.network)
            connection.network = None
            if connection.session is not None and connection.frame_budget is not None:
                connection.frame_budget.identify()
