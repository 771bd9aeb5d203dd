"""What an attacker knows of the server: addresses, one account, and where that account may write."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """A server on this machine, as one attacker sees it.

    `address` is where the attacker claims to come from: the server trusts the forwarding header of loopback, so that
    attackers and others have networks of their own, and none has the allowance of the machine itself.
    """

    url: str
    """Such as `http://127.0.0.1:3333`."""
    address: str
    """An IPv4 address, for `headers`."""
    token: str
    """The token of a person who is a member of the guild and has no special permission there."""
    bot_token: str
    """The token of the person's own bot, with `Bot `, which is in the guild too."""
    username: str
    password: str
    user_id: str
    guild_id: str
    """A guild with several channels that the person is a member of."""
    own_guild_id: str
    """A guild that the person owns."""
    channel_id: str
    """A text channel of the guild that the person may write in."""
    webhook_path: str
    """Below the URL: a webhook of the person's own guild, with its token."""

    @property
    def api(self) -> str:
        """The URL of the API's version 10."""
        return f"{self.url}/api/v10"

    @property
    def gateway(self) -> str:
        """The URL of the gateway, JSON without compression."""
        return self.url.replace("http", "ws", 1) + "/gateway?v=10&encoding=json"

    @property
    def headers(self) -> Mapping[str, str]:
        """The header that says where a request comes from; for WebSockets too."""
        return {"X-Forwarded-For": self.address}

    @property
    def authorized(self) -> Mapping[str, str]:
        """The headers of a request by the person."""
        return {**self.headers, "Authorization": self.token}
