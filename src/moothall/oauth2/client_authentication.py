"""Authentication of OAuth2 clients: by secret, or by id alone for public clients (RFC 6749, section 2.3)."""

import base64
import binascii
import hmac
from urllib.parse import unquote_plus

from msgspec import Struct

from moothall.api.access import Access, PathValues
from moothall.api.context import Context
from moothall.api.pipeline import too_many_requests
from moothall.api.request.url_encoded import UrlEncoded
from moothall.oauth2.oauth_errors import INVALID_REQUEST, OAuthRefusal, invalid_client
from moothall.objects.errors import Refusal
from moothall.objects.ids import ApplicationId, Snowflake
from moothall.resources.application.queries import ApplicationRow, select_application
from moothall.resources.user.password.throttle import AttemptThrottle, Limit, TooManyAttempts
from moothall.runtime.secrets import hash_token

_ID_LENGTH_MAX = 20
_FAILURES_OF_CLIENT_MAX = 10
_FAILURES_OF_NETWORK_MAX = 50
_ID_LIMIT = 1 << 63


class ClientCredentials(Access):
    """Access for OAuth2 clients. Their credentials are in a Basic header or the body, and the handler checks them."""

    label = "client credentials"
    needs_actor = False
    own_credentials = True

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Check nothing: credentials may be in the body, so the handler calls `authenticate_client`."""


CLIENT = ClientCredentials()


class ClientRequest(UrlEncoded, frozen=True, kw_only=True):
    """The fields with which a client may identify itself in a form."""

    client_id: str | None = None
    client_secret: str | None = None

    @classmethod
    def unreadable(cls, why: str) -> Refusal:
        """The refusal of a malformed body."""
        return OAuthRefusal(INVALID_REQUEST, why)


class Client(Struct, frozen=True):
    """An authenticated client."""

    application: ApplicationRow
    confidential: bool
    """Whether it authenticated with its secret; False for a public client."""


class SecretThrottle(AttemptThrottle):
    """Counts wrong client secrets, by id and network: the id is public, so others must not lock the application out."""


async def authenticate_client(ctx: Context, body: ClientRequest) -> Client:
    """Authenticate the client of a request.

    Raises OAuthRefusal: 401 invalid_client, 400 invalid_request for different credentials in header and body;
    Refusal 429 after too many wrong secrets.
    """
    by_header = _basic(ctx.credentials)
    # Public examples send the token of their bot with the credentials in the body: a header of another scheme is none.
    if by_header is None and (_is_basic(ctx.credentials) or (ctx.credentials is not None and body.client_id is None)):
        raise invalid_client(by_header=True)
    client_id, secret = by_header or (body.client_id, body.client_secret)
    if by_header is not None and (body.client_id not in {None, client_id} or body.client_secret not in {None, secret}):
        raise OAuthRefusal(INVALID_REQUEST, "Credentials are given twice, and differ")
    if client_id is None:
        raise invalid_client(by_header=by_header is not None)
    application_id = _application_id(client_id)
    row = None if application_id is None else await select_application(ctx.tx, application_id)
    if row is not None and row.disabled:
        row = None
    if secret:
        limits = (
            Limit(f"{client_id[:_ID_LENGTH_MAX]} from {ctx.ip}", _FAILURES_OF_CLIENT_MAX),
            Limit(ctx.ip, _FAILURES_OF_NETWORK_MAX),
        )
        throttle = ctx.services.resources[SecretThrottle]
        stored = None if row is None else row.secret_hash
        try:
            async with throttle.attempt(*limits) as attempt:
                # Without an application a constant is compared, so that both take the same time.
                matches = hmac.compare_digest(hash_token(secret), stored or bytes(32))
                if row is not None and stored is not None and matches:
                    attempt.discard()
                    return Client(row, confidential=True)
        except TooManyAttempts as problem:
            raise too_many_requests(problem.seconds, "user", []) from None
    elif row is not None and row.public_client:
        return Client(row, confidential=False)
    raise invalid_client(by_header=by_header is not None)


def _application_id(text: str) -> ApplicationId | None:
    """Parse an id; None if the text is not a number of 63 bits."""
    number = int(text) if text.isascii() and text.isdecimal() and len(text) <= _ID_LENGTH_MAX else _ID_LIMIT
    return ApplicationId(Snowflake(number)) if number < _ID_LIMIT else None


def _is_basic(header: str | None) -> bool:
    return (header or "").partition(" ")[0].lower() == "basic"


def _basic(header: str | None) -> tuple[str, str] | None:
    """Parse a Basic header into id and secret, which are form-encoded (RFC 6749, section 2.3.1); None for another."""
    if not _is_basic(header):
        return None
    encoded = (header or "").partition(" ")[2]
    try:
        client_id, separator, secret = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return (unquote_plus(client_id), unquote_plus(secret)) if separator else None
