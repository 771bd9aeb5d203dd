"""OAuth2 error responses (RFC 6749, section 5.2; RFC 6750, section 3; RFC 8628, section 3.5)."""

from typing import Final

from moothall.objects.errors import ErrorKind, Refusal
from moothall.objects.json_object import JsonObject

_NO_STORE: Final = {"cache-control": "no-store", "pragma": "no-cache"}

INVALID_REQUEST: Final = "invalid_request"
INVALID_CLIENT: Final = "invalid_client"
INVALID_GRANT: Final = "invalid_grant"
UNAUTHORIZED_CLIENT: Final = "unauthorized_client"
UNSUPPORTED_GRANT_TYPE: Final = "unsupported_grant_type"
INVALID_SCOPE: Final = "invalid_scope"
AUTHORIZATION_PENDING: Final = "authorization_pending"
SLOW_DOWN: Final = "slow_down"
EXPIRED_TOKEN: Final = "expired_token"  # noqa: S105 an error, no secret
ACCESS_DENIED: Final = "access_denied"


class OAuthRefusal(Refusal):
    """A refusal whose body is `{"error", "error_description"}`."""

    def __init__(
        self, error: str, description: str, *, status: int = 400, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(ErrorKind(status, 0, description), headers=_NO_STORE | (headers or {}))
        self.error = error

    def body(self) -> JsonObject:
        """The JSON of the response."""
        return {"error": self.error, "error_description": self.message}


def invalid_client(*, by_header: bool) -> OAuthRefusal:
    """The refusal of an unknown client and of a wrong secret alike, with a challenge if a Basic header was sent."""
    headers = {"www-authenticate": 'Basic realm="oauth2"'} if by_header else None
    return OAuthRefusal(INVALID_CLIENT, "Client authentication failed", status=401, headers=headers)
