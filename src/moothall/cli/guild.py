"""`moothall guild`: guilds as operators find them, and what only they may change."""

import json
from typing import TYPE_CHECKING

import click

from moothall.cli.arguments import SNOWFLAKE
from moothall.cli.options import STORAGE, fail, takes_settings
from moothall.objects.ids import GuildId, Snowflake
from moothall.settings import Settings

if TYPE_CHECKING:
    from moothall.resources.guild_administration.queries import GuildSummaryRow


@click.group(short_help="List, change, delete and restore guilds.")
def guild() -> None:
    """List, delete and restore guilds, and change a guild's features, premium tier, owner and vanity URL.

    Changes are in the guild's audit log, without a user, and in the log of operators.
    """


@guild.command("list", short_help="List guilds.")
@takes_settings(*STORAGE)
@click.option("--search", default="", metavar="TEXT", help="Only those with TEXT in their names.")
@click.option("--deleted", is_flag=True, help="Deleted ones that can be restored.")
@click.option("--before", type=SNOWFLAKE, metavar="ID", help="Only those with smaller ids: the last one shown before.")
@click.option("--limit", type=click.IntRange(1), default=100, metavar="N", help="How many to show [default 100].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def list_command(
    settings: Settings, search: str, before: Snowflake | None, limit: int, *, deleted: bool, as_json: bool
) -> None:
    """List guilds, newest first, with their owners and the numbers of their members."""
    from moothall.cli.execution import query_database
    from moothall.resources.guild_administration.queries import select_deleted_guilds, select_guilds
    from moothall.runtime.secrets import SecretBox
    from moothall.storage.database import Reader

    async def read(reader: Reader, _box: SecretBox) -> list["GuildSummaryRow"]:
        last = None if before is None else GuildId(before)
        select = select_deleted_guilds if deleted else select_guilds
        return await select(reader, search=search, before=last, maximum=limit + 1)

    rows = query_database(settings, read)
    for row in rows[:limit]:
        fields = _describe(row)
        cells = (fields["id"], f"{row.member_count} members", row.owner_name or "-", row.name)
        click.echo(json.dumps(fields) if as_json else "  ".join(str(cell) for cell in cells))
    if len(rows) > limit:
        click.echo(f"moothall: there are more; continue with --before {int(rows[limit - 1].id)}", err=True)


@guild.command(short_help="Show a guild.")
@takes_settings(*STORAGE)
@click.argument("guild_id", metavar="GUILD", type=SNOWFLAKE)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(settings: Settings, guild_id: Snowflake, *, as_json: bool) -> None:
    """Show the guild with the id GUILD, or the deleted one that can be restored."""
    from moothall.cli.execution import query_database
    from moothall.resources.guild_administration.queries import count_channels, select_guild
    from moothall.runtime.secrets import SecretBox
    from moothall.storage.database import Reader

    async def read(reader: Reader, _box: SecretBox) -> dict[str, object] | None:
        row = await select_guild(reader, GuildId(guild_id))
        return None if row is None else {**_describe(row), "channels": await count_channels(reader, row.id)}

    fields = query_database(settings, read)
    if fields is None:
        fail(f"{int(guild_id)}: no such guild")
    _print(fields, as_json=as_json)


@guild.command(short_help="Delete a guild; for some days it can be restored.")
@takes_settings(*STORAGE)
@click.argument("guild_id", metavar="GUILD", type=SNOWFLAKE)
@click.option(
    "--days",
    type=click.IntRange(0, 365),
    metavar="N",
    help="Days in which it can be restored [default: the setting guild_deletion_days]; 0 deletes it for good.",
)
@click.option("--reason", metavar="TEXT", help="For the log of operators.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def delete(settings: Settings, guild_id: Snowflake, days: int | None, reason: str | None, *, as_json: bool) -> None:
    """Delete the guild with the id GUILD: it is gone for its members and bots at once.

    Until it is deleted for good, `moothall guild restore` brings all of it back. Its files count for their users' quota
    until then.
    """
    from moothall.api.context import Context
    from moothall.cli.execution import operate
    from moothall.resources.guild_administration.queries import select_guild
    from moothall.resources.guild_deletion.operations.deletion import delete_guild

    async def work(ctx: Context) -> "GuildSummaryRow | None":
        await ctx.visit_guild(GuildId(guild_id))
        await delete_guild(ctx, days=ctx.services.limits.guild_deletion_days if days is None else days)
        return await select_guild(ctx.tx, GuildId(guild_id))

    row = operate(settings, work, lock=guild_id, reason=reason)
    _print({} if row is None else _describe(row), as_json=as_json)


@guild.command(short_help="Bring a deleted guild back.")
@takes_settings(*STORAGE)
@click.argument("guild_id", metavar="GUILD", type=SNOWFLAKE)
@click.option("--owner", metavar="NAME|ADDRESS|ID", help="Another owner, who was a member.")
@click.option("--reason", metavar="TEXT", help="For the log of operators.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def restore(settings: Settings, guild_id: Snowflake, owner: str | None, reason: str | None, *, as_json: bool) -> None:
    """Bring back the deleted guild with the id GUILD, with its members, messages, invites and webhooks.

    A running server announces it soon after. Accounts that were deleted meanwhile are no members of it.
    """
    from moothall.api.context import Context
    from moothall.cli.execution import operate
    from moothall.resources.guild_administration.queries import select_guild
    from moothall.resources.guild_deletion.operations.deletion import restore_guild
    from moothall.resources.user.lookup import get_by_login_or_id

    async def work(ctx: Context) -> "GuildSummaryRow | None":
        new_owner = None if owner is None else (await get_by_login_or_id(ctx, owner)).id
        await restore_guild(ctx, GuildId(guild_id), owner_id=new_owner)
        return await select_guild(ctx.tx, GuildId(guild_id))

    row = operate(settings, work, lock=guild_id, reason=reason)
    _print({} if row is None else _describe(row), as_json=as_json)


@guild.command(short_help="Make a member the owner of a guild.")
@takes_settings(*STORAGE)
@click.argument("guild_id", metavar="GUILD", type=SNOWFLAKE)
@click.argument("name", metavar="NAME|ADDRESS|ID")
@click.option("--reason", metavar="TEXT", help="For the logs.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def transfer(settings: Settings, guild_id: Snowflake, name: str, reason: str | None, *, as_json: bool) -> None:
    """Make the user NAME, who is a member, the owner of the guild with the id GUILD."""
    from moothall.api.context import Context
    from moothall.cli.execution import operate
    from moothall.objects.guild import Guild
    from moothall.resources.guild_administration.operations import modify_guild
    from moothall.resources.user.lookup import get_by_login_or_id

    async def work(ctx: Context) -> Guild:
        user = await get_by_login_or_id(ctx, name)
        await ctx.visit_guild(GuildId(guild_id))
        return await modify_guild(ctx, owner_id=user.id)

    changed = operate(settings, work, lock=guild_id, reason=reason)
    fields = {"id": str(int(changed.id)), "name": changed.name, "owner_id": str(int(changed.owner_id))}
    click.echo(json.dumps(fields) if as_json else "\n".join(f"{key}: {value}" for key, value in fields.items()))


def _describe(row: "GuildSummaryRow") -> dict[str, object]:
    return {
        "id": str(int(row.id)),
        "name": row.name,
        "owner_id": str(int(row.owner_id)),
        "owner_name": row.owner_name,
        "features": row.features,
        "premium_tier": row.premium_tier,
        "member_count": row.member_count,
        "deleted_at": None if row.deleted_at is None else row.deleted_at.wire(),
        "deletes_at": None if row.deletes_at is None else row.deletes_at.wire(),
    }


def _print(fields: dict[str, object], *, as_json: bool) -> None:
    click.echo(json.dumps(fields) if as_json else "\n".join(f"{key}: {value}" for key, value in fields.items()))


@guild.command(short_help="Change a guild's features and premium tier.")
@takes_settings(*STORAGE)
@click.argument("guild_id", metavar="GUILD", type=SNOWFLAKE)
@click.option("--add", multiple=True, metavar="NAME", help="A feature to add, like VANITY_URL.")
@click.option("--remove", multiple=True, metavar="NAME", help="A feature to remove.")
@click.option("--tier", type=click.IntRange(0, 3), help="The premium tier to set: larger files, better sound.")
def features(
    settings: Settings, guild_id: Snowflake, add: tuple[str, ...], remove: tuple[str, ...], tier: int | None
) -> None:
    """Add and remove features of the guild with the id GUILD, set its premium tier, and print both.

    Without options it only prints. A running server applies and announces the change at once; the guild's audit log
    records it without a user. Adding a feature that is there and removing one that is not is no error.
    """
    from moothall.api.context import Context
    from moothall.cli.execution import operate
    from moothall.objects.features import ALL
    from moothall.objects.guild import Guild
    from moothall.resources.guild_administration.operations import modify_guild

    add, remove = tuple(name.upper() for name in add), tuple(name.upper() for name in remove)
    for name in (*add, *remove):
        if name not in ALL:
            fail(f"{name}: no such feature; there are {', '.join(sorted(ALL))}")
    if both := set(add) & set(remove):
        fail(f"{', '.join(sorted(both))}: both to be added and removed")

    async def work(ctx: Context) -> Guild:
        await ctx.visit_guild(GuildId(guild_id))
        remaining = [name for name in ctx.guild.row.features if name not in remove]
        return await modify_guild(ctx, features=[*remaining, *add], premium_tier=tier)

    changed = operate(settings, work, lock=guild_id)
    click.echo(f"features: {' '.join(changed.features) or 'none'}\ntier: {int(changed.premium_tier)}")


@guild.command(short_help="Set how much a guild may have.")
@takes_settings(*STORAGE)
@click.argument("guild_id", metavar="GUILD", type=SNOWFLAKE)
@click.option("--storage-mb", type=click.IntRange(0), metavar="N", help="Megabytes of files; 0 for any number.")
@click.option("--default-storage", is_flag=True, help="Let the setting storage_quota_mb_per_guild count again.")
@click.option("--members", type=click.IntRange(2, 500_000), metavar="N", help="How many members it may have.")
@click.option("--reason", metavar="TEXT", help="For the log of operators.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def quota(
    settings: Settings,
    guild_id: Snowflake,
    storage_mb: int | None,
    members: int | None,
    reason: str | None,
    *,
    default_storage: bool,
    as_json: bool,
) -> None:
    """Set the quotas of the guild with the id GUILD, and print them. What it has beyond them stays.

    Without options it only prints.
    """
    from moothall.api.context import Context
    from moothall.cli.execution import operate
    from moothall.resources.guild_administration.operations import modify_guild, set_storage_quota
    from moothall.resources.guild_administration.queries import select_storage

    if storage_mb is not None and default_storage:
        raise click.UsageError("give either --storage-mb or --default-storage")

    async def work(ctx: Context) -> dict[str, object]:
        await ctx.visit_guild(GuildId(guild_id))
        changed = await modify_guild(ctx, max_members=members)
        if storage_mb is not None or default_storage:
            await set_storage_quota(ctx, storage_mb)
        file_bytes, quota_mb = await select_storage(ctx.tx, changed.id)
        return {"file_bytes": file_bytes, "storage_quota_mb": quota_mb, "max_members": changed.max_members}

    _print(operate(settings, work, lock=guild_id, reason=reason), as_json=as_json)


@guild.command(short_help="Set or remove a guild's vanity URL code.")
@takes_settings(*STORAGE)
@click.argument("guild_id", metavar="GUILD", type=SNOWFLAKE)
@click.argument("code", metavar="CODE", required=False)
@click.option("--none", "without", is_flag=True, help="Remove the code.")
def vanity(settings: Settings, guild_id: Snowflake, code: str | None, *, without: bool) -> None:
    """Make CODE the vanity URL code of the guild with the id GUILD, and print it.

    Without a code it only prints. The guild needs no feature for it. A running server applies and announces the change
    at once; the guild's audit log records it without a user.
    """
    from moothall.api.context import Context
    from moothall.cli.execution import operate
    from moothall.objects.guild import VanityUrl
    from moothall.resources.guild.vanity_url.operations import modify_vanity_url
    from moothall.resources.operator_log.operations import record_act

    if code is not None and without:
        fail("give either a code or --none")

    async def work(ctx: Context) -> VanityUrl:
        await ctx.visit_guild(GuildId(guild_id))
        target = None if without else code or ctx.guild.row.vanity_url_code
        before = ctx.guild.row.vanity_url_code
        changed = await modify_vanity_url(ctx, target, by_operator=True)
        if changed.code != before:
            await record_act(ctx, "guild.vanity_url", ctx.guild.id, changes={"code": (before, changed.code)})
        return changed

    vanity_url = operate(settings, work, lock=guild_id)
    click.echo(f"code: {vanity_url.code or 'none'}\nuses: {vanity_url.uses}")
