"""Operations of operators on identity providers. Each is a row of their log."""

import re
from typing import Any, Final

from msgspec import UNSET, Struct, structs

from moothall.api.context import Context
from moothall.api.operators import OperatorAuthority
from moothall.objects import errors
from moothall.objects.errors import FormErrors, Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import GuildId, RoleId, Snowflake, UserId
from moothall.resources.identity_provider import queries
from moothall.resources.identity_provider.provider_client import ProviderClient, secret_about
from moothall.resources.identity_provider.queries import GroupRow, ProviderRow
from moothall.resources.identity_provider.requests import CreateProvider, ModifyProvider
from moothall.resources.operator_log.operations import record_act
from moothall.resources.user.auth_session.queries import end_tokens
from moothall.resources.user.events import SessionsClose
from moothall.resources.user.factor.proof import require_proof
from moothall.storage.database import ConstraintFailed

PROVIDERS_MAX: Final = 20
GROUPS_MAX: Final = 500
"""Groups of a provider."""
_SESSIONS_AT_ONCE: Final = 200
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
_LOGGED: Final[tuple[str, ...]] = (
    "label", "issuer", "client_id", "scopes", "username_claim", "groups_claim", "creates_accounts", "enabled",
)  # fmt: skip


class ProviderCheck(Struct, frozen=True):
    """What a provider says of itself, or what is wrong with it."""

    ok: bool
    problem: str | None = None
    algorithms: list[str] = []
    ends_sessions: bool = False
    """Whether it says that it ends sessions by back-channel logout."""


async def create_provider(ctx: Context, body: CreateProvider) -> ProviderRow:
    """Let people log in with a provider.

    Raises Refusal 50035 for a name that is taken or not for URLs, for an issuer that is no URL of https, and for more
    than 20 providers.
    """
    await _require_proof(ctx)
    form_errors = FormErrors()
    if not _NAME.fullmatch(body.name):
        form_errors.add("name", FormCode.STRING_TYPE_REGEX, "Use up to 32 lower-case letters, digits and dashes.")
    _check_issuer(ctx, form_errors, body.issuer)
    _check_scopes(form_errors, body.scopes)
    present = await queries.select_providers(ctx.tx)
    if len(present) >= PROVIDERS_MAX:
        form_errors.add("name", FormCode.BASE_TYPE_MAX_LENGTH, f"There are {PROVIDERS_MAX} providers already.")
    if any(row.name == body.name for row in present):
        form_errors.add("name", FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "There is a provider of this name.")
    form_errors.raise_if_any()
    provider_id = ctx.ids.next()
    row = ProviderRow(
        id=provider_id,
        name=body.name,
        label=body.label or body.name,
        issuer=body.issuer,
        client_id=body.client_id,
        client_secret=_sealed(ctx, provider_id, body.client_secret),
        scopes=" ".join(body.scopes.split()),
        username_claim=body.username_claim,
        groups_claim=body.groups_claim,
        creates_accounts=body.creates_accounts,
        enabled=True,
        created_at=ctx.now,
    )
    try:
        await queries.insert_provider(ctx.tx, row)
    except ConstraintFailed:
        refuse_field("name", FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "There is a provider of this name.")
    await record_act(
        ctx,
        "provider.add",
        row.id,
        changes={"name": (None, row.name), **{name: (None, getattr(row, name)) for name in _LOGGED}},
    )
    return row


async def modify_provider(ctx: Context, row: ProviderRow, body: ModifyProvider) -> ProviderRow:
    """Change a provider. One that is not enabled logs no one in; its logins stay until they are ended.

    The issuer never changes: another one could say of anybody that it is they.
    """
    await _require_proof(ctx)
    columns: dict[str, Any] = {name: value for name, value in structs.asdict(body).items() if value is not UNSET}
    form_errors = FormErrors()
    if "scopes" in columns:
        _check_scopes(form_errors, columns["scopes"])
        columns["scopes"] = " ".join(columns["scopes"].split())
    form_errors.raise_if_any()
    if "client_secret" in columns:
        columns["client_secret"] = _sealed(ctx, row.id, columns["client_secret"] or None)
    columns = {name: value for name, value in columns.items() if getattr(row, name) != value}
    if not columns:
        return row
    await queries.update_provider(ctx.tx, row.id, columns)
    changes: dict[str, tuple[Any, Any]] = {
        name: (getattr(row, name), columns[name]) for name in _LOGGED if name in columns
    }
    if "client_secret" in columns:
        changes["client_secret"] = (None, "changed")
    await record_act(ctx, "provider.change", row.id, changes=changes)
    client = ctx.services.resources[ProviderClient]
    ctx.tx.on_commit(lambda: client.forget(row.id))
    return structs.replace(row, **columns)


async def delete_provider(ctx: Context, row: ProviderRow) -> None:
    """Delete a provider with its groups and identities, and end the logins that came by it.

    Accounts, memberships and roles stay; accounts without a password need another way in.
    """
    await _require_proof(ctx)
    await end_logins(ctx, row.id)
    await queries.delete_provider(ctx.tx, row.id)
    await record_act(ctx, "provider.remove", row.id, changes={"name": (row.name, None), "issuer": (row.issuer, None)})
    client = ctx.services.resources[ProviderClient]
    ctx.tx.on_commit(lambda: client.forget(row.id))


async def end_logins(ctx: Context, provider_id: Snowflake) -> None:
    """End every login that came by a provider."""
    while rows := await queries.select_session_tokens(ctx.tx, provider_id, _SESSIONS_AT_ONCE):
        await end_tokens(ctx.tx, [digest for digest, _ in rows])
        for digest, user_id in rows:
            ctx.emit(SessionsClose(user_id=UserId(Snowflake(user_id)), token_hash=digest.hex()))


async def add_group(
    ctx: Context, row: ProviderRow, name: str, guild_id: GuildId, role_id: RoleId | None = None
) -> GroupRow:
    """Let the people of a provider's group be members of a guild, with a role if one is named.

    Adding a group again changes nothing. Raises Refusal: 404/10004 for an unknown guild; 50035 for a role that is not
    of the guild, that is managed, or that groups of another provider give, and for more than 500 groups.
    """
    await _require_proof(ctx)
    await ctx.visit_guild(guild_id)
    if role_id is not None:
        role = ctx.guild.roles.get(role_id)
        if role is None or role.managed or role.id == ctx.guild.everyone.id:
            refuse_field("role_id", FormCode.BASE_TYPE_CHOICES, "Name a role of this guild that members can be given.")
        giver = await queries.select_provider_of_role(ctx.tx, guild_id, role_id)
        if giver not in {None, row.id}:
            # Each login by one provider would take what the other has given.
            refuse_field("role_id", FormCode.BASE_TYPE_CHOICES, "Groups of another provider give this role.")
    groups = await queries.select_groups(ctx.tx, row.id)
    for group in groups:
        if (group.name, group.guild_id, group.role_id) == (name, guild_id, role_id):
            return group
    if len(groups) >= GROUPS_MAX:
        refuse_field("name", FormCode.BASE_TYPE_MAX_LENGTH, f"There are {GROUPS_MAX} groups already.")
    group = GroupRow(guild_id=guild_id, id=ctx.ids.next(), provider_id=row.id, name=name, role_id=role_id)
    await queries.insert_group(ctx.tx, group)
    await record_act(ctx, "provider.add_group", row.id, changes={key: (None, value) for key, value in _shown(group)})
    return group


async def remove_group(ctx: Context, row: ProviderRow, group_id: Snowflake) -> None:
    """Let a group give nothing any more. Who has something of it keeps that. Raises Refusal 404/10010 for no group."""
    await _require_proof(ctx)
    group = next((each for each in await queries.select_groups(ctx.tx, row.id) if each.id == group_id), None)
    if group is None or not await queries.delete_group(ctx.tx, group):
        raise Refusal(errors.UNKNOWN_PROVIDER)
    await record_act(ctx, "provider.remove_group", row.id, changes={key: (value, None) for key, value in _shown(group)})


def _shown(group: GroupRow) -> list[tuple[str, str | None]]:
    """A group as the log has it."""
    role_id = None if group.role_id is None else str(int(group.role_id))
    return [("name", group.name), ("guild_id", str(int(group.guild_id))), ("role_id", role_id)]


async def _require_proof(ctx: Context) -> None:
    """Refuse an operator with two factors who has not proved them lately. Commands need no proof."""
    if ctx.find_resource(OperatorAuthority) is not None:
        await require_proof(ctx)


def _check_issuer(ctx: Context, form_errors: FormErrors, issuer: str) -> None:
    limits = ctx.services.limits
    scheme, _, rest = issuer.partition("://")
    host = rest.partition("/")[0].partition(":")[0]
    private = limits.allow_private_addresses or host in limits.private_provider_hosts
    good = scheme == "https" or (scheme == "http" and private)
    if not good or not host or not issuer.isprintable() or set(issuer) & set(" ?#@\\"):
        form_errors.add("issuer", FormCode.URL_TYPE_INVALID_URL, "Name its URL, which begins with https://.")


def _check_scopes(form_errors: FormErrors, scopes: str) -> None:
    if "openid" not in scopes.split():
        form_errors.add("scopes", FormCode.BASE_TYPE_CHOICES, "One of the scopes must be openid.")


def _sealed(ctx: Context, provider_id: Snowflake, secret: str | None) -> bytes | None:
    if secret is None:
        return None
    return ctx.services.box.encrypt(secret.encode(), about=secret_about(provider_id))
