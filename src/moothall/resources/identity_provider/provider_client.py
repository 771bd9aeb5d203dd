"""Requests to identity providers: discovery, keys, tokens, claims about a user.

They go to public addresses only, but for hosts that the operator has named, take a bounded time and size, and follow no
redirect. What providers say of themselves is cached for an hour, and used for a day where they do not answer; keys are
read again for a token of an unknown key.
"""

import base64
import logging
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import msgspec
from msgspec import Struct

from moothall.api.context import Services
from moothall.objects.clock import stopwatch
from moothall.objects.ids import Snowflake
from moothall.objects.json_object import JsonObject
from moothall.objects.wire import Timestamp
from moothall.resources.identity_provider.metadata import ProviderFailed, ProviderMetadata, check_metadata
from moothall.resources.identity_provider.queries import ProviderRow
from moothall.resources.identity_provider.tokens import (
    UnknownKey,
    check_subject,
    read_id_token,
    read_keys,
    read_logout_token,
)
from moothall.runtime.lifecycle import Lazy
from moothall.runtime.outgoing import Outgoing, OutgoingFailed, OutgoingResponse, read_whole
from moothall.runtime.secrets import SecretUnreadable
from moothall.runtime.single_flight import SingleFlight

if TYPE_CHECKING:
    pass

T = TypeVar("T")

_SECONDS: Final = 10.0
"""For one request."""
_BYTES: Final = 512 * 1024
_FRESH: Final = 3600.0
"""Seconds for which a provider is not requested again."""
_STALE: Final = 86_400.0
"""Seconds after which an answer is not used any more, though the provider does not answer."""
_KEYS_AGAIN: Final = 10.0
"""Least seconds between two requests for keys, whatever the tokens name."""
_DISCOVERY: Final = "/.well-known/openid-configuration"
_JWT: Final = Lazy(partial(import_module, "jwt"))

log = logging.getLogger("moothall.single_sign_on")


class _ProviderState(Struct):
    """What is known of a provider, and when it was read, by the stopwatch."""

    issuer: str
    metadata: ProviderMetadata
    read_at: float
    keys: list[Any] = []
    replaced_at: float = float("-inf")
    """When the keys were last read again for a token of an unknown one."""


class _Tokens(Struct):
    id_token: str
    access_token: str = ""


class ProviderClient:
    """Talks to identity providers for all requests of this process."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._public = _outgoing(allow_private=False)
        self._private = _outgoing(allow_private=True)
        self._known: dict[Snowflake, _ProviderState] = {}
        self._reading = SingleFlight[tuple[Snowflake, str], None]()

    async def metadata(self, provider: ProviderRow) -> ProviderMetadata:
        """What a provider says of itself. Raises ProviderFailed."""
        return (await self._get_known(provider)).metadata

    async def authorization_url(
        self, provider: ProviderRow, *, redirect_uri: str, state: str, nonce: str, challenge: str
    ) -> str:
        """The URL to send a browser to. Raises ProviderFailed."""
        metadata = await self.metadata(provider)
        endpoint = metadata.authorization_endpoint
        query = {
            "response_type": "code",
            "client_id": provider.client_id,
            "redirect_uri": redirect_uri,
            "scope": metadata.supported(provider.scopes),
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(query, quote_via=quote)}"

    async def redeem(
        self, provider: ProviderRow, code: str, *, redirect_uri: str, verifier: str, nonce: str
    ) -> JsonObject:
        """Exchange a code for an id token and return the claims of it and of the userinfo. Raises ProviderFailed."""
        await _JWT.get()
        metadata = await self.metadata(provider)
        tokens = await self._exchange(provider, metadata, code, redirect_uri, verifier)
        claims = await self._with_keys(
            provider,
            partial(
                read_id_token,
                tokens.id_token,
                issuer=metadata.issuer,
                client_id=provider.client_id,
                algorithms=metadata.algorithms,
                nonce=nonce,
                now=Timestamp.now() / 1000,
            ),
        )
        needed = {provider.username_claim, "email"} | ({provider.groups_claim} if provider.groups_claim else set())
        if metadata.userinfo_endpoint is None or not tokens.access_token or needed <= claims.keys():
            return claims
        # Claims of the id token are signed: those of the userinfo only add to them.
        return await self._userinfo(metadata.userinfo_endpoint, tokens.access_token, claims["sub"]) | claims

    async def read_logout(self, provider: ProviderRow, token: str) -> JsonObject:
        """The claims of a logout token. Raises ProviderFailed."""
        await _JWT.get()
        metadata = await self.metadata(provider)
        return await self._with_keys(
            provider,
            partial(
                read_logout_token,
                token,
                issuer=metadata.issuer,
                client_id=provider.client_id,
                algorithms=metadata.algorithms,
                now=Timestamp.now() / 1000,
            ),
        )

    def forget(self, provider_id: Snowflake) -> None:
        """Ask a provider again, because its settings have changed."""
        self._known.pop(provider_id, None)

    async def close(self) -> None:
        """Close the connections."""
        await self._reading.close()
        await self._public.close()
        await self._private.close()

    async def _with_keys(self, provider: ProviderRow, read: "partial[JsonObject]") -> JsonObject:
        """Read a token with the keys of its provider: once more with fresh ones if it has replaced them."""
        known = await self._get_known(provider)
        if not known.keys:
            await self._renew_keys(provider, known)
        try:
            return read(keys=known.keys)
        except UnknownKey:
            if stopwatch() - known.replaced_at < _KEYS_AGAIN:
                raise
            known.replaced_at = stopwatch()
            await self._renew_keys(provider, known)
            return read(keys=known.keys)

    async def _renew_keys(self, provider: ProviderRow, known: _ProviderState) -> None:
        async def renew() -> None:
            answer = await self._get(known.metadata.jwks_uri)
            known.keys = read_keys(answer.body)

        await self._reading.get((provider.id, "keys"), renew)

    async def _get_known(self, provider: ProviderRow) -> _ProviderState:
        known, now = self._known.get(provider.id), stopwatch()
        if known is not None and known.issuer != provider.issuer:
            known = None
        if known is not None and now - known.read_at < _FRESH:
            return known
        try:
            await self._reading.get((provider.id, provider.issuer), partial(self._discover, provider))
        except ProviderFailed as problem:
            if known is None or now - known.read_at > _STALE:
                raise
            log.warning("%s does not answer, and is used as it was: %s", provider.name, problem)
            return known
        return self._known[provider.id]

    async def _discover(self, provider: ProviderRow) -> None:
        answer = await self._get(provider.issuer.rstrip("/") + _DISCOVERY)
        metadata = _decode(answer, ProviderMetadata)
        check_metadata(metadata, provider.issuer, plain_http=self._may_be_private(provider.issuer))
        before = self._known.get(provider.id)
        known = _ProviderState(issuer=provider.issuer, metadata=metadata, read_at=stopwatch())
        if before is not None and before.metadata.jwks_uri == metadata.jwks_uri:
            known.keys, known.replaced_at = before.keys, before.replaced_at
        self._known[provider.id] = known

    async def _exchange(
        self, provider: ProviderRow, metadata: ProviderMetadata, code: str, redirect_uri: str, verifier: str
    ) -> _Tokens:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
        }
        headers = {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
        secret = self._secret_of(provider)
        methods = metadata.token_endpoint_auth_methods_supported
        if secret is not None and ("client_secret_basic" in methods or "client_secret_post" not in methods):
            # Both are form-encoded first (RFC 6749, section 2.3.1).
            pair = f"{quote(provider.client_id, safe='')}:{quote(secret, safe='')}"
            headers["authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        else:
            form["client_id"] = provider.client_id
            if secret is not None:
                form["client_secret"] = secret
        answer = await self._send(
            metadata.token_endpoint,
            lambda outgoing, url: outgoing.post(
                url, urlencode(form).encode(), headers, seconds=_SECONDS, maximum=_BYTES
            ),
        )
        return _decode(answer, _Tokens)

    async def _userinfo(self, url: str, access_token: str, subject: str) -> JsonObject:
        answer = await self._get(url, {"authorization": f"Bearer {access_token}"})
        claims = _decode(answer, JsonObject)
        check_subject(claims)
        if claims["sub"] != subject:
            raise ProviderFailed("the userinfo is about another user")
        return claims

    async def _get(self, url: str, headers: Mapping[str, str] | None = None) -> OutgoingResponse:
        headers = {"accept": "application/json", **(headers or {})}
        read = partial(read_whole, maximum=_BYTES)
        return await self._send(url, lambda outgoing, url: outgoing.get(url, headers, seconds=_SECONDS, read=read))

    async def _send(self, url: str, send: Any) -> OutgoingResponse:
        outgoing = self._private if self._may_be_private(url) else self._public
        try:
            answer: OutgoingResponse = await send(outgoing, url)
        except OutgoingFailed as problem:
            raise ProviderFailed(f"{urlsplit(url).netloc} does not answer: {problem}") from None
        return answer

    def _may_be_private(self, url: str) -> bool:
        limits = self._services.limits
        return limits.allow_private_addresses or urlsplit(url).hostname in limits.private_provider_hosts

    def _secret_of(self, provider: ProviderRow) -> str | None:
        if provider.client_secret is None:
            return None
        try:
            return self._services.box.decrypt(provider.client_secret, about=secret_about(provider.id)).decode()
        except SecretUnreadable:
            raise ProviderFailed("its client secret cannot be decrypted: set it again") from None


def secret_about(provider_id: Snowflake) -> bytes:
    """What binds the encrypted secret of a client to its row."""
    return b"identity provider %d" % int(provider_id)


def _decode(answer: OutgoingResponse, kind: type[T]) -> T:
    if answer.status != 200:
        # The answer may name a reason: it is of the operator's own provider, and has no secret of ours.
        raise ProviderFailed(f"it answers {answer.status}: {answer.body[:200].decode(errors='replace')!r}")
    try:
        return msgspec.json.decode(answer.body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise ProviderFailed(f"its answer cannot be read: {problem}") from None


def _outgoing(*, allow_private: bool) -> Outgoing:
    return Outgoing(allow_private=allow_private, agent="Moothall/1.0", connections=50, connections_per_host=20)
