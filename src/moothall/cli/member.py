"""`moothall member`: change stored data of a guild's members."""

import click

from moothall.cli.arguments import SNOWFLAKE
from moothall.cli.options import STORAGE, takes_settings
from moothall.objects.ids import GuildId, Snowflake, UserId
from moothall.settings import Settings


@click.group(short_help="Change stored data of a guild's members.")
def member() -> None:
    """Change stored data of a guild's members."""


@member.command("last-seen", short_help="Set when a member was last seen, which pruning goes by.")
@takes_settings(*STORAGE)
@click.argument("guild_id", metavar="GUILD", type=SNOWFLAKE)
@click.argument("user_id", metavar="USER", type=SNOWFLAKE)
@click.option("--days-ago", type=click.IntRange(0, 36_500), required=True, metavar="N", help="Days before now.")
def last_seen(settings: Settings, guild_id: Snowflake, user_id: Snowflake, days_ago: int) -> None:
    """Set when USER was last seen in GUILD (both ids), for migrations and tests of pruning."""
    from moothall.api.context import Context
    from moothall.cli.execution import operate
    from moothall.objects import errors
    from moothall.objects.errors import Refusal
    from moothall.objects.wire import Timestamp
    from moothall.resources.member.activity import set_last_seen
    from moothall.resources.member.queries import get_member

    async def work(ctx: Context) -> Timestamp:
        await ctx.visit_guild(GuildId(guild_id))
        if await get_member(ctx.tx, GuildId(guild_id), UserId(user_id)) is None:
            raise Refusal(errors.UNKNOWN_MEMBER)
        moment = Timestamp(ctx.now - days_ago * 86_400_000)
        await set_last_seen(ctx.tx, GuildId(guild_id), UserId(user_id), moment)
        return moment

    moment = operate(settings, work)
    click.echo(f"last seen: {moment.wire()}")
