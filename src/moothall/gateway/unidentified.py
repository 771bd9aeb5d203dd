"""Connections that have not said who they are: bounded, or anybody could fill the server with them."""


class UnidentifiedConnections:
    """Counts them, all together and by the network that they come from."""

    __slots__ = ("_by_network", "_max", "_max_of_network", "count")

    def __init__(self, maximum: int, max_of_network: int) -> None:
        self._max = maximum
        self._max_of_network = max_of_network
        self._by_network: dict[str, int] = {}
        self.count = 0

    def admit(self, network: str) -> bool:
        """Count a new one; False, without counting it, if there are too many. An empty network is this machine."""
        held = self._by_network.get(network, 0)
        if self.count >= self._max or (network and held >= self._max_of_network):
            return False
        self.count += 1
        self._by_network[network] = held + 1
        return True

    def forget(self, network: str) -> None:
        """One of a network has gone, or is a stranger no more."""
        self.count -= 1
        held = self._by_network[network] - 1
        if held:
            self._by_network[network] = held
        else:
            del self._by_network[network]
