"""What an identity provider says of itself (OpenID Connect Discovery 1.0), and what of it is accepted."""

from typing import Final

from msgspec import Struct, field

ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Algorithms of signatures that are accepted: those of public keys. With others, who can check could also sign."""


class ProviderFailed(Exception):
    """A provider does not answer, or not as it must. The message says why, for the operator alone."""


class ProviderMetadata(Struct, frozen=True, kw_only=True):
    """The document at `/.well-known/openid-configuration`, as far as it is used."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    token_endpoint_auth_methods_supported: list[str] = field(default_factory=lambda: ["client_secret_basic"])
    id_token_signing_alg_values_supported: list[str] = field(default_factory=lambda: ["RS256"])
    scopes_supported: list[str] | None = None
    backchannel_logout_supported: bool = False
    authorization_response_iss_parameter_supported: bool = False

    @property
    def algorithms(self) -> list[str]:
        """The algorithms of its tokens that are accepted."""
        return [name for name in ALGORITHMS if name in self.id_token_signing_alg_values_supported]

    def supported(self, scopes: str) -> str:
        """Those of some scopes that it knows, where it says which: others could be refused."""
        if self.scopes_supported is None:
            return scopes
        return " ".join(scope for scope in scopes.split() if scope == "openid" or scope in self.scopes_supported)

    def urls(self) -> list[str]:
        """The URLs that requests go to, or that browsers are sent to."""
        urls = [self.authorization_endpoint, self.token_endpoint, self.jwks_uri]
        return urls if self.userinfo_endpoint is None else [*urls, self.userinfo_endpoint]


def check_metadata(metadata: ProviderMetadata, issuer: str, *, plain_http: bool) -> None:
    """Raise ProviderFailed for a document of another issuer, without an accepted algorithm, and with plain http."""
    if metadata.issuer != issuer:
        raise ProviderFailed(f"it says that its issuer is {metadata.issuer!r}")
    if not metadata.algorithms:
        raise ProviderFailed("it signs with no algorithm that is accepted")
    schemes = ("https://", "http://") if plain_http else ("https://",)
    for url in metadata.urls():
        if not url.startswith(schemes) or not url.isprintable() or " " in url:
            raise ProviderFailed(f"it names a URL that is not accepted: {url!r}")
