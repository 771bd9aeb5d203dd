"""What this server says of itself as a provider of OpenID Connect (OpenID Connect Discovery 1.0)."""

from typing import Final

from msgspec import Struct

from moothall.objects.scopes import EMAIL, OPENID

DISCOVERY_PATH: Final = "/.well-known/openid-configuration"


class ProviderMetadata(Struct, frozen=True, kw_only=True):
    """The document at `DISCOVERY_PATH`: only the flow by code."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    userinfo_endpoint: str
    revocation_endpoint: str
    jwks_uri: str
    scopes_supported: tuple[str, ...] = (OPENID, EMAIL)
    response_types_supported: tuple[str, ...] = ("code",)
    response_modes_supported: tuple[str, ...] = ("query",)
    grant_types_supported: tuple[str, ...] = ("authorization_code", "refresh_token")
    subject_types_supported: tuple[str, ...] = ("public",)
    id_token_signing_alg_values_supported: tuple[str, ...] = ("RS256",)
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic", "client_secret_post", "none")
    code_challenge_methods_supported: tuple[str, ...] = ("S256",)
    claims_supported: tuple[str, ...] = (
        "sub", "preferred_username", "nickname", "picture", "locale", "email", "email_verified",
    )  # fmt: skip


def provider_metadata(url: str) -> ProviderMetadata:
    """The document of the server at a base URL, which is the issuer of its id tokens."""
    api = f"{url}/api/v10/oauth2"
    return ProviderMetadata(
        issuer=url,
        authorization_endpoint=f"{url}/oauth2/authorize",
        token_endpoint=f"{api}/token",
        userinfo_endpoint=f"{api}/userinfo",
        revocation_endpoint=f"{api}/token/revoke",
        jwks_uri=f"{api}/keys",
    )
