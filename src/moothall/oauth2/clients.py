"""Who asks at the token endpoint: an application that shows its secret, or a public one that cannot keep any."""

import base64
import binascii
import hmac
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote_plus

from msgspec import Struct

from moothall.kernel.access import Access
from moothall.kernel.context import Context
from moothall.kernel.pipeline import too_many
from moothall.kernel.secrets import hash_token
from moothall.kernel.url_encoded import UrlEncoded
from moothall.oauth2.refusals import INVALID_REQUEST, OAuthRefusal, invalid_client
from moothall.objects.errors import Refusal
from moothall.objects.ids import ApplicationId, Snowflake
from moothall.resources.application.queries import ApplicationRow, select_application
from moothall.resources.user.password.throttle import AttemptThrottle, Limit, TooManyAttempts

_LONGEST_ID = 20
_MAX_OF_CLIENT = 10
_MAX_OF_NETWORK = 50
_ID_BEYOND = 1 << 63


class ClientCredentials(Access):
    """An application with its id and secret, in a Basic header or in the body; the handler looks at them."""

    label = "client credentials"
    needs_actor = False
    own_credentials = True

    async def check(self, ctx: Context, path: Mapping[str, Any]) -> None:
        """The body may hold the credentials, so that `authenticate_client` is the handler's to call."""


CLIENT = ClientCredentials()


class ClientRequest(UrlEncoded, frozen=True, kw_only=True):
    """What every request of a client may carry."""

    client_id: str | None = None
    client_secret: str | None = None

    @classmethod
    def unreadable(cls, why: str) -> Refusal:
        """A body that cannot be read."""
        return OAuthRefusal(INVALID_REQUEST, why)


class Client(Struct, frozen=True):
    """An application that is who it says."""

    application: ApplicationRow
    confidential: bool
    """Whether it has shown its secret; a public client has not."""


class SecretThrottle(AttemptThrottle):
    """Counts wrong client secrets. An application's id is public: others must not be able to lock it out."""


async def authenticate_client(ctx: Context, body: ClientRequest) -> Client:
    """The application that asks.

    Raises OAuthRefusal: 401 invalid_client, 400 invalid_request for credentials in both places that
    differ; Refusal 429 for who has shown too many wrong secrets.
    """
    by_header = _basic(ctx.credentials)
    if ctx.credentials is not None and by_header is None:
        raise invalid_client(by_header=True)
    client_id, secret = by_header or (body.client_id, body.client_secret)
    if by_header is not None and (body.client_id not in {None, client_id} or body.client_secret not in {None, secret}):
        raise OAuthRefusal(INVALID_REQUEST, "Credentials are given twice, and differ")
    if client_id is None:
        raise invalid_client(by_header=by_header is not None)
    application_id = _application_id(client_id)
    row = None if application_id is None else await select_application(ctx.tx, application_id)
    if secret:
        limits = Limit(f"{client_id[:_LONGEST_ID]} from {ctx.ip}", _MAX_OF_CLIENT), Limit(ctx.ip, _MAX_OF_NETWORK)
        throttle: AttemptThrottle = ctx.services.extra.setdefault(SecretThrottle, SecretThrottle())
        stored = None if row is None else row.secret_hash
        try:
            async with throttle.attempt(*limits) as attempt:
                # Of an unknown application the same is compared, so that the time tells nothing.
                fits = hmac.compare_digest(hash_token(secret), stored or bytes(32))
                if row is not None and stored is not None and fits:
                    attempt.give_back()
                    return Client(row, confidential=True)
        except TooManyAttempts as problem:
            raise too_many(problem.seconds, "user", []) from None
    elif row is not None and row.public_client:
        return Client(row, confidential=False)
    raise invalid_client(by_header=by_header is not None)


def _application_id(text: str) -> ApplicationId | None:
    """The id that a text is; None for what no column of ids can hold."""
    number = int(text) if text.isascii() and text.isdecimal() and len(text) <= _LONGEST_ID else _ID_BEYOND
    return ApplicationId(Snowflake(number)) if number < _ID_BEYOND else None


def _basic(header: str | None) -> tuple[str, str] | None:
    """Id and secret of a Basic header, which are form encoded before they are joined (RFC 6749, section 2.3.1)."""
    scheme, _, encoded = (header or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        client_id, separator, secret = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return (unquote_plus(client_id), unquote_plus(secret)) if separator else None
