"""Bodies of requests that set identity providers up."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

Label = Annotated[str, Meta(min_length=1, max_length=64)]
ClientId = Annotated[str, Meta(min_length=1, max_length=255)]
Secret = Annotated[str, Meta(min_length=1, max_length=1024)]
Scopes = Annotated[str, Meta(min_length=1, max_length=255, pattern=r"\A[!#-\[\]-~]+(?: +[!#-\[\]-~]+)*\Z")]
Claim = Annotated[str, Meta(min_length=1, max_length=128)]
GroupsClaim = Annotated[str, Meta(max_length=128)]


class CreateProvider(Struct, frozen=True, kw_only=True):
    """A provider of OpenID Connect, and this server as its client."""

    name: Annotated[str, Meta(max_length=32)]
    """What its URLs here have: https://hall.example.org/login/callback/NAME is what the provider redirects to."""
    label: Label | None = None
    """What people read; without one, the name."""
    issuer: Annotated[str, Meta(min_length=1, max_length=512)]
    client_id: ClientId
    client_secret: Secret | None = None
    """Null for a public client."""
    scopes: Scopes = "openid profile email"
    username_claim: Claim = "preferred_username"
    groups_claim: GroupsClaim = "groups"
    """The claim that lists the groups of a person; empty if groups give nothing."""
    creates_accounts: bool = True
    """Whether those who log in for the first time get an account."""


class ModifyProvider(Struct, frozen=True, kw_only=True):
    """Fields of a provider to change. The name and the issuer stay."""

    label: Label | UnsetType = UNSET
    client_id: ClientId | UnsetType = UNSET
    client_secret: Secret | UnsetType | None = UNSET
    scopes: Scopes | UnsetType = UNSET
    username_claim: Claim | UnsetType = UNSET
    groups_claim: GroupsClaim | UnsetType = UNSET
    creates_accounts: bool | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET
