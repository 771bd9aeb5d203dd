"""`moothall guild`: settings of a guild that only the operator may change."""

import click

from moothall.cli.arguments import SNOWFLAKE
from moothall.cli.options import STORAGE, fail, takes_settings
from moothall.objects.ids import GuildId, Snowflake
from moothall.settings import Settings


@click.group(short_help="Change a guild's features, premium tier and vanity URL.")
def guild() -> None:
    """Change a guild's features, premium tier and vanity URL."""


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
    from moothall.resources.guild.operations import change_guild
    from moothall.resources.guild.screening.operations import admit_pending_if_disabled
    from moothall.resources.soundboard.operations import announce_sound_availability

    add, remove = tuple(name.upper() for name in add), tuple(name.upper() for name in remove)
    for name in (*add, *remove):
        if name not in ALL:
            fail(f"{name}: no such feature; there are {', '.join(sorted(ALL))}")
    if both := set(add) & set(remove):
        fail(f"{', '.join(sorted(both))}: both to be added and removed")

    async def work(ctx: Context) -> Guild:
        await ctx.visit_guild(GuildId(guild_id))
        row = ctx.guild.row
        remaining = [name for name in row.features if name not in remove]
        target = sorted({*remaining, *add}) if {*remaining, *add} != set(row.features) else row.features
        changed = await change_guild(ctx, features=target, premium_tier=row.premium_tier if tier is None else tier)
        await announce_sound_availability(ctx, changed)
        await admit_pending_if_disabled(ctx, changed)
        return changed

    changed = operate(settings, work, lock=guild_id)
    click.echo(f"features: {' '.join(changed.features) or 'none'}\ntier: {int(changed.premium_tier)}")


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

    if code is not None and without:
        fail("give either a code or --none")

    async def work(ctx: Context) -> VanityUrl:
        await ctx.visit_guild(GuildId(guild_id))
        target = None if without else code or ctx.guild.row.vanity_url_code
        return await modify_vanity_url(ctx, target, by_operator=True)

    vanity_url = operate(settings, work, lock=guild_id)
    click.echo(f"code: {vanity_url.code or 'none'}\nuses: {vanity_url.uses}")
