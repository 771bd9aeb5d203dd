"""`moothall guild`: what only the platform decides about a guild."""

import click

from moothall.cli.arguments import SNOWFLAKE
from moothall.cli.options import STORAGE, fail, takes_settings
from moothall.objects.ids import GuildId, Snowflake
from moothall.settings import Settings


@click.group(short_help="Decide what a guild may do.")
def guild() -> None:
    """Decide what a guild may do."""


@guild.command(short_help="Give a guild features or a premium tier, or take them away.")
@takes_settings(*STORAGE)
@click.argument("guild_id", metavar="GUILD", type=SNOWFLAKE)
@click.option("--add", multiple=True, metavar="NAME", help="A feature to give, like VANITY_URL.")
@click.option("--remove", multiple=True, metavar="NAME", help="A feature to take away.")
@click.option("--tier", type=click.IntRange(0, 3), help="The premium tier to set: larger files, better sound.")
def features(
    settings: Settings, guild_id: Snowflake, add: tuple[str, ...], remove: tuple[str, ...], tier: int | None
) -> None:
    """Give the guild with the id GUILD features or a premium tier, or take them away; print what it has then.

    With neither option it only prints. A running server knows at once and announces the change; the guild's audit log
    tells of it, without a user. What is there already, or is gone already, is no error.
    """
    from moothall.cli.operating import operate
    from moothall.kernel.context import Context
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
        kept = [name for name in row.features if name not in remove]
        wanted = sorted({*kept, *add}) if {*kept, *add} != set(row.features) else row.features
        changed = await change_guild(ctx, features=wanted, premium_tier=row.premium_tier if tier is None else tier)
        await announce_sound_availability(ctx, changed)
        await admit_pending_if_disabled(ctx, changed)
        return changed

    found = operate(settings, work, lock=guild_id)
    click.echo(f"features: {' '.join(found.features) or 'none'}\ntier: {int(found.premium_tier)}")


@guild.command(short_help="Give a guild an invite code of its own, or take it away.")
@takes_settings(*STORAGE)
@click.argument("guild_id", metavar="GUILD", type=SNOWFLAKE)
@click.argument("code", metavar="CODE", required=False)
@click.option("--none", "without", is_flag=True, help="Take the code away.")
def vanity(settings: Settings, guild_id: Snowflake, code: str | None, *, without: bool) -> None:
    """Make CODE the invite code of the guild with the id GUILD, and print what it has then.

    Without a code it only prints. The guild needs no feature for it. A running server knows at once and announces the
    change; the guild's audit log tells of it, without a user.
    """
    from moothall.cli.operating import operate
    from moothall.kernel.context import Context
    from moothall.objects.guild import VanityUrl
    from moothall.resources.guild.vanity_url.operations import modify_vanity_url

    if code is not None and without:
        fail("give either a code or --none")

    async def work(ctx: Context) -> VanityUrl:
        await ctx.visit_guild(GuildId(guild_id))
        wanted = None if without else code or ctx.guild.row.vanity_url_code
        return await modify_vanity_url(ctx, wanted, by_operator=True)

    found = operate(settings, work, lock=guild_id)
    click.echo(f"code: {found.code or 'none'}\nuses: {found.uses}")
