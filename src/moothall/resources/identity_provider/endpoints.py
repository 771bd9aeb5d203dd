"""Identity providers over HTTP, as operators set them up."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from moothall.api.context import Context
from moothall.api.endpoint import delete, get, patch, post
from moothall.api.operators import may_act, may_read
from moothall.api.ratelimit import Rate
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import GuildId, RoleId, Snowflake
from moothall.objects.operator import OperatorPermission
from moothall.objects.wire import Timestamp
from moothall.resources.identity_provider import operations, queries
from moothall.resources.identity_provider.metadata import ProviderFailed
from moothall.resources.identity_provider.operations import ProviderCheck
from moothall.resources.identity_provider.provider_client import ProviderClient
from moothall.resources.identity_provider.queries import NamedGroupRow, ProviderRow
from moothall.resources.identity_provider.requests import CreateProvider, ModifyProvider
from moothall.resources.user.events import SessionsClose

_READS, _ACTS = may_read(OperatorPermission.SETTINGS), may_act(OperatorPermission.SETTINGS)
_CHECK_RATE: Final = Rate(5, 10.0)


class IdentityProvider(Struct, frozen=True, kw_only=True):
    """A provider, as operators see it: never with its secret."""

    id: Snowflake
    name: str
    label: str
    issuer: str
    client_id: str
    has_secret: bool
    scopes: str
    username_claim: str
    groups_claim: str
    creates_accounts: bool
    enabled: bool
    created_at: Timestamp
    redirect_uri: str
    """The URL that the provider must allow to redirect to."""
    logout_uri: str
    """The URL for its back-channel logout."""


class ProviderGroup(Struct, frozen=True, kw_only=True):
    """A group of a provider whose people are members of a guild, and have the role if there is one."""

    id: Snowflake
    name: str
    guild_id: GuildId
    guild_name: str
    role_id: RoleId | None
    role_name: str | None


class AddProviderGroup(Struct, frozen=True, kw_only=True):
    """What the people of a group get."""

    name: Annotated[str, Meta(min_length=1, max_length=255)]
    guild_id: GuildId
    role_id: RoleId | None = None


@get("/admin/v1/identity-providers", permission=_READS)
async def list_identity_providers(ctx: Context) -> list[IdentityProvider]:
    """List the identity providers."""
    return [provider_object(ctx, row) for row in await queries.select_providers(ctx.tx)]


@post("/admin/v1/identity-providers", permission=_ACTS, audit_reason=True, status=201)
async def create_identity_provider(ctx: Context, body: CreateProvider) -> IdentityProvider:
    """Let people log in with a provider of OpenID Connect."""
    return provider_object(ctx, await operations.create_provider(ctx, body))


@patch("/admin/v1/identity-providers/{provider_id}", permission=_ACTS, audit_reason=True)
async def modify_identity_provider(ctx: Context, provider_id: Snowflake, body: ModifyProvider) -> IdentityProvider:
    """Change a provider. One that is not enabled logs no one in."""
    return provider_object(ctx, await operations.modify_provider(ctx, await get_provider(ctx, provider_id), body))


@delete("/admin/v1/identity-providers/{provider_id}", permission=_ACTS, audit_reason=True, fires=(SessionsClose,))
async def delete_identity_provider(ctx: Context, provider_id: Snowflake) -> None:
    """Delete a provider with its groups and the links of accounts to it, and end the logins that came by it."""
    await operations.delete_provider(ctx, await get_provider(ctx, provider_id))


@post("/admin/v1/identity-providers/{provider_id}/check", permission=_ACTS, rate=_CHECK_RATE, writes=False, status=200)
async def check_identity_provider(ctx: Context, provider_id: Snowflake) -> ProviderCheck:
    """Ask a provider what it says of itself, and say what is wrong with that."""
    return await check_provider(ctx, await get_provider(ctx, provider_id))


@get("/admin/v1/identity-providers/{provider_id}/groups", permission=_READS)
async def list_provider_groups(ctx: Context, provider_id: Snowflake) -> list[ProviderGroup]:
    """List the groups of a provider, and what their people get."""
    await get_provider(ctx, provider_id)
    return [_group(row) for row in await queries.select_named_groups(ctx.tx, provider_id)]


@post("/admin/v1/identity-providers/{provider_id}/groups", permission=_ACTS, audit_reason=True, status=201)
async def add_provider_group(ctx: Context, provider_id: Snowflake, body: AddProviderGroup) -> ProviderGroup:
    """Let the people of a group be members of a guild, with a role: at their next login, and until they leave it."""
    row = await get_provider(ctx, provider_id)
    group = await operations.add_group(ctx, row, body.name, body.guild_id, body.role_id)
    role = None if group.role_id is None else ctx.guild.roles[group.role_id]
    return ProviderGroup(
        id=group.id,
        name=group.name,
        guild_id=group.guild_id,
        guild_name=ctx.guild.row.name,
        role_id=group.role_id,
        role_name=None if role is None else role.name,
    )


@delete("/admin/v1/identity-providers/{provider_id}/groups/{group_id}", permission=_ACTS, audit_reason=True)
async def remove_provider_group(ctx: Context, provider_id: Snowflake, group_id: Snowflake) -> None:
    """Let a group give nothing any more."""
    await operations.remove_group(ctx, await get_provider(ctx, provider_id), group_id)


async def get_provider(ctx: Context, provider_id: Snowflake) -> ProviderRow:
    """Find a provider. Raises Refusal 404/10010."""
    row = await queries.select_provider(ctx.tx, provider_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_PROVIDER)
    return row


async def check_provider(ctx: Context, row: ProviderRow) -> ProviderCheck:
    """Ask a provider what it says of itself."""
    client = ctx.services.resources[ProviderClient]
    client.forget(row.id)
    try:
        metadata = await client.metadata(row)
    except ProviderFailed as problem:
        return ProviderCheck(ok=False, problem=str(problem))
    return ProviderCheck(ok=True, algorithms=metadata.algorithms, ends_sessions=metadata.backchannel_logout_supported)


def provider_object(ctx: Context, row: ProviderRow) -> IdentityProvider:
    """A provider as operators see it."""
    url = ctx.services.limits.public_url
    return IdentityProvider(
        id=row.id,
        name=row.name,
        label=row.label,
        issuer=row.issuer,
        client_id=row.client_id,
        has_secret=row.client_secret is not None,
        scopes=row.scopes,
        username_claim=row.username_claim,
        groups_claim=row.groups_claim,
        creates_accounts=row.creates_accounts,
        enabled=row.enabled,
        created_at=row.created_at,
        redirect_uri=f"{url}/login/callback/{row.name}",
        logout_uri=f"{url}/api/v10/auth/back-channel-logout/{row.name}",
    )


def _group(row: NamedGroupRow) -> ProviderGroup:
    return ProviderGroup(
        id=row.id,
        name=row.name,
        guild_id=row.guild_id,
        guild_name=row.guild_name,
        role_id=row.role_id,
        role_name=row.role_name,
    )
