"""How mail is sent: the settings of the mail server."""

from typing import Literal

from msgspec import Struct

TlsMode = Literal["starttls", "tls", "none"]


class MailConfig(Struct, frozen=True, kw_only=True):
    """A mail server (SMTP), and the sender of all mail."""

    host: str
    port: int
    tls: TlsMode
    user: str | None
    password: str | None
    sender: str
    """The address in From."""
    public_url: str
    """Base URL of links, without a trailing slash; never taken from a request."""
    seconds: float
    """How long delivering one mail may take in all."""

    @property
    def domain(self) -> str:
        """The domain of the sender, by which this server introduces itself."""
        return self.sender.rpartition("@")[2]

    @property
    def where(self) -> str:
        """The mail server, for messages to the operator."""
        return f"{self.host} port {self.port}"


DEFAULT_PORTS: dict[TlsMode, int] = {"starttls": 587, "tls": 465, "none": 25}
"""The ports of submission (RFC 8314, 3.3) and of plain SMTP."""
