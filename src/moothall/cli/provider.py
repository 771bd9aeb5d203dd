"""`moothall provider`: identity providers that people log in with."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import UNSET

from moothall.cli.arguments import SNOWFLAKE
from moothall.cli.options import STORAGE, fail, takes_settings
from moothall.objects.ids import GuildId, RoleId, Snowflake
from moothall.objects.json_object import JsonObject
from moothall.settings import Settings

if TYPE_CHECKING:
    from moothall.api.context import Context
    from moothall.resources.identity_provider.operations import ProviderCheck
    from moothall.resources.identity_provider.queries import GroupRow, NamedGroupRow, ProviderRow

_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
_JSON_LINES = click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
_REASON = click.option("--reason", metavar="TEXT", help="For the log.")
_PROVIDER = click.argument("provider_name", metavar="PROVIDER")
_SECRET = click.option(
    "--client-secret-file", type=click.Path(path_type=Path, allow_dash=True), metavar="FILE", help="- reads the input."
)


@click.group(short_help="Let people log in with identity providers (OpenID Connect).")
def provider() -> None:
    """Let people log in with identity providers, and let groups give memberships and roles.

    The commands work whether the server runs or not, and are in the log of operators.
    """


@provider.command(short_help="Let people log in with a provider.")
@takes_settings(*STORAGE, "public_url", "allow_private_addresses")
@_PROVIDER
@click.option("--issuer", required=True, metavar="URL", help="Its URL, below which its configuration is published.")
@click.option("--client-id", required=True, metavar="ID", help="What the provider calls this server.")
@_SECRET
@click.option("--label", metavar="TEXT", help="What people read [default: PROVIDER].")
@click.option("--scopes", default="openid profile email", metavar="TEXT", help="[default openid profile email]")
@click.option("--username-claim", default="preferred_username", metavar="NAME", help="[default preferred_username]")
@click.option("--groups-claim", default="groups", metavar="NAME", help="[default groups]")
@click.option("--no-accounts", is_flag=True, help="Let in only those who have an account.")
@_REASON
@_JSON
def add(
    settings: Settings,
    provider_name: str,
    issuer: str,
    client_id: str,
    client_secret_file: Path | None,
    label: str | None,
    scopes: str,
    username_claim: str,
    groups_claim: str,
    reason: str | None,
    *,
    no_accounts: bool,
    as_json: bool,
) -> None:
    """Let people log in with the provider PROVIDER, which is its name in URLs, and print the URLs to register there."""
    from moothall.cli.execution import operate
    from moothall.resources.identity_provider.operations import create_provider
    from moothall.resources.identity_provider.requests import CreateProvider

    body = CreateProvider(
        name=provider_name,
        label=label,
        issuer=issuer,
        client_id=client_id,
        client_secret=_read_secret(client_secret_file),
        scopes=scopes,
        username_claim=username_claim,
        groups_claim=groups_claim,
        creates_accounts=not no_accounts,
    )

    async def work(ctx: "Context") -> JsonObject:
        return _describe(await create_provider(ctx, body), await _base_url(ctx, settings))

    _print(operate(settings, work, reason=reason), as_json=as_json)


@provider.command(short_help="Change a provider.")
@takes_settings(*STORAGE)
@_PROVIDER
@click.option("--client-id", metavar="ID", help="What the provider calls this server.")
@_SECRET
@click.option("--label", metavar="TEXT", help="What people read.")
@click.option("--scopes", metavar="TEXT", help="What is asked for; openid among it.")
@click.option("--username-claim", metavar="NAME", help="The claim that usernames are made of.")
@click.option("--groups-claim", metavar="NAME", help="The claim that lists groups; empty if they give nothing.")
@click.option("--accounts/--no-accounts", default=None, help="Whether a first login makes an account.")
@click.option("--enable/--disable", default=None, help="Whether people can log in with it.")
@_REASON
@_JSON
def change(
    settings: Settings,
    provider_name: str,
    client_secret_file: Path | None,
    reason: str | None,
    accounts: bool | None,  # noqa: FBT001 click passes options by name
    enable: bool | None,  # noqa: FBT001
    *,
    as_json: bool,
    **texts: str | None,
) -> None:
    """Change the provider PROVIDER. Its name and issuer stay: remove it and add another one."""
    from moothall.cli.execution import operate
    from moothall.resources.identity_provider.operations import modify_provider
    from moothall.resources.identity_provider.requests import ModifyProvider

    secret = _read_secret(client_secret_file)
    fields: JsonObject = {**texts, "client_secret": secret, "creates_accounts": accounts, "enabled": enable}
    body = ModifyProvider(**{name: UNSET if value is None else value for name, value in fields.items()})

    async def work(ctx: "Context") -> JsonObject:
        row = await modify_provider(ctx, await _find(ctx, provider_name), body)
        return _describe(row, await _base_url(ctx, settings))

    _print(operate(settings, work, reason=reason), as_json=as_json)


@provider.command(short_help="Remove a provider.")
@takes_settings(*STORAGE)
@_PROVIDER
@_REASON
def remove(settings: Settings, provider_name: str, reason: str | None) -> None:
    """Remove the provider PROVIDER: its logins end, accounts stay and are linked to nothing."""
    from moothall.cli.execution import operate
    from moothall.resources.identity_provider.operations import delete_provider

    async def work(ctx: "Context") -> None:
        await delete_provider(ctx, await _find(ctx, provider_name))

    operate(settings, work, reason=reason)
    click.echo(f"removed: {provider_name}")


@provider.command("list", short_help="Show the providers.")
@takes_settings(*STORAGE, "public_url")
@_JSON_LINES
def list_command(settings: Settings, *, as_json: bool) -> None:
    """Show the providers, never their secrets."""
    from moothall.cli.execution import operate
    from moothall.resources.identity_provider.queries import select_providers

    async def work(ctx: "Context") -> list[JsonObject]:
        url = await _base_url(ctx, settings)
        return [_describe(row, url) for row in await select_providers(ctx.tx)]

    for fields in operate(settings, work):
        cells = (fields["name"], "enabled" if fields["enabled"] else "disabled", fields["issuer"], fields["label"])
        click.echo(json.dumps(fields) if as_json else "  ".join(cells))


@provider.command(short_help="Ask a provider what it says of itself.")
@takes_settings(*STORAGE, "allow_private_addresses")
@_PROVIDER
@_JSON
def check(settings: Settings, provider_name: str, *, as_json: bool) -> None:
    """Ask the provider PROVIDER for its configuration from this machine, and say what is wrong with it."""
    from moothall.cli.execution import operate
    from moothall.resources.identity_provider.endpoints import check_provider

    async def work(ctx: "Context") -> "ProviderCheck":
        return await check_provider(ctx, await _find(ctx, provider_name))

    result = operate(settings, work)
    fields = {
        "ok": result.ok,
        "problem": result.problem,
        "algorithms": result.algorithms,
        "ends_sessions": result.ends_sessions,
    }
    if as_json:
        click.echo(json.dumps(fields))
    elif result.ok:
        click.echo(f"ok: signs by {', '.join(result.algorithms)}")
    if not result.ok:
        fail(f"{provider_name}: {result.problem}")


@provider.command("map", short_help="Let a group give a membership and a role.")
@takes_settings(*STORAGE)
@_PROVIDER
@click.argument("group", metavar="GROUP")
@click.argument("guild_id", metavar="GUILD", type=SNOWFLAKE)
@click.argument("role_id", metavar="ROLE", type=SNOWFLAKE, required=False)
@_REASON
@_JSON
def map_command(
    settings: Settings,
    provider_name: str,
    group: str,
    guild_id: Snowflake,
    role_id: Snowflake | None,
    reason: str | None,
    *,
    as_json: bool,
) -> None:
    """Let the people of GROUP be members of the guild with the id GUILD, and have ROLE there."""
    from moothall.cli.execution import operate
    from moothall.resources.identity_provider.operations import add_group

    async def work(ctx: "Context") -> "GroupRow":
        role = None if role_id is None else RoleId(role_id)
        return await add_group(ctx, await _find(ctx, provider_name), group, GuildId(guild_id), role)

    row = operate(settings, work, reason=reason)
    fields = {"id": str(int(row.id)), "name": row.name, "guild_id": str(int(row.guild_id)), "role_id": _id(row.role_id)}
    click.echo(json.dumps(fields) if as_json else "\n".join(f"{key}: {value or '-'}" for key, value in fields.items()))


@provider.command(short_help="Show what groups give.")
@takes_settings(*STORAGE)
@_PROVIDER
@_JSON_LINES
def groups(settings: Settings, provider_name: str, *, as_json: bool) -> None:
    """Show the groups of the provider PROVIDER, and what their people get."""
    from moothall.cli.execution import operate
    from moothall.resources.identity_provider.queries import select_named_groups

    async def work(ctx: "Context") -> list["NamedGroupRow"]:
        return await select_named_groups(ctx.tx, (await _find(ctx, provider_name)).id)

    for row in operate(settings, work):
        fields = {
            "id": str(int(row.id)),
            "name": row.name,
            "guild_id": str(int(row.guild_id)),
            "guild_name": row.guild_name,
            "role_id": _id(row.role_id),
            "role_name": row.role_name,
        }
        cells = (fields["id"], row.name, row.guild_name, row.role_name or _id(row.role_id) or "-")
        click.echo(json.dumps(fields) if as_json else "  ".join(str(cell) for cell in cells))


@provider.command(short_help="Let a group give nothing any more.")
@takes_settings(*STORAGE)
@_PROVIDER
@click.argument("group_id", metavar="ID", type=SNOWFLAKE)
@_REASON
def unmap(settings: Settings, provider_name: str, group_id: Snowflake, reason: str | None) -> None:
    """Undo the mapping ID, which `moothall provider groups` shows. Who has something of it keeps that."""
    from moothall.cli.execution import operate
    from moothall.resources.identity_provider.operations import remove_group

    async def work(ctx: "Context") -> None:
        await remove_group(ctx, await _find(ctx, provider_name), group_id)

    operate(settings, work, reason=reason)
    click.echo(f"removed: {int(group_id)}")


@provider.command(short_help="Let an account log in with an identity.")
@takes_settings(*STORAGE)
@_PROVIDER
@click.argument("subject", metavar="SUBJECT")
@click.argument("name", metavar="NAME|ADDRESS|ID")
@_REASON
def link(settings: Settings, provider_name: str, subject: str, name: str, reason: str | None) -> None:
    """Let the account NAME log in with the identity that PROVIDER calls SUBJECT: you know that they are the same."""
    from moothall.cli.execution import operate
    from moothall.resources.single_sign_on.operations import assign_identity
    from moothall.resources.user.lookup import get_by_login_or_id

    async def work(ctx: "Context") -> None:
        row = await get_by_login_or_id(ctx, name)
        await assign_identity(ctx, await _find(ctx, provider_name), subject, row)

    operate(settings, work, reason=reason)
    click.echo(f"linked: {subject}")


@provider.command(short_help="Forget an identity, also of a deleted account.")
@takes_settings(*STORAGE)
@_PROVIDER
@click.argument("subject", metavar="SUBJECT")
@_REASON
def release(settings: Settings, provider_name: str, subject: str, reason: str | None) -> None:
    """Forget the identity that PROVIDER calls SUBJECT, so that its person can log in for the first time again."""
    from moothall.cli.execution import operate
    from moothall.resources.single_sign_on.operations import release_identity

    async def work(ctx: "Context") -> None:
        await release_identity(ctx, await _find(ctx, provider_name), subject)

    operate(settings, work, reason=reason)
    click.echo(f"released: {subject}")


async def _find(ctx: "Context", name: str) -> "ProviderRow":
    from moothall.resources.identity_provider.queries import select_provider_by_name

    row = await select_provider_by_name(ctx.tx, name)
    if row is None:
        fail(f"{name}: no such provider; see `moothall provider list`")
    return row


async def _base_url(ctx: "Context", settings: Settings) -> str:
    """The URL of the server: of the settings, else of its last start."""
    from moothall.demo.record import load_base_url

    url = settings.public_url or await load_base_url(ctx.tx) or ctx.services.limits.public_url
    return url.rstrip("/")


def _read_secret(file: Path | None) -> str | None:
    if file is None:
        return None
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except OSError as error:
        fail(f"cannot read {file}: {error.strerror}")
    return text.strip() or None


def _id(value: Snowflake | None) -> str | None:
    return None if value is None else str(int(value))


def _describe(row: "ProviderRow", url: str) -> dict[str, Any]:
    return {
        "id": str(int(row.id)),
        "name": row.name,
        "label": row.label,
        "issuer": row.issuer,
        "client_id": row.client_id,
        "has_secret": row.client_secret is not None,
        "scopes": row.scopes,
        "username_claim": row.username_claim,
        "groups_claim": row.groups_claim,
        "creates_accounts": row.creates_accounts,
        "enabled": row.enabled,
        "redirect_uri": f"{url}/login/callback/{row.name}",
        "logout_uri": f"{url}/api/v10/auth/back-channel-logout/{row.name}",
    }


def _print(fields: JsonObject, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(fields))
        return
    words = {True: "yes", False: "no"}
    click.echo("\n".join(f"{key}: {words.get(value, value)}" for key, value in fields.items()))
