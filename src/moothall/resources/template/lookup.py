"""Looking up templates, with whether they are dirty."""

from moothall.api.context import Context
from moothall.authority.guild_changes import GuildPart
from moothall.authority.guild_state import GuildState, once_per_version
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.template import GuildTemplate, TemplateSnapshot
from moothall.resources.template import queries
from moothall.resources.template.queries import TemplateRow
from moothall.resources.template.snapshots import take_snapshot
from moothall.resources.user.queries import get_user


async def find_template(ctx: Context, code: str) -> tuple[TemplateRow, GuildState]:
    """The template with a code and its source guild. Raises Refusal: 404/10057."""
    row = await queries.select_template(ctx.tx, code)
    guild = None if row is None else await ctx.services.states.state(ctx.tx, row.guild_id, writes=ctx.writes)
    if row is None or guild is None:
        raise Refusal(errors.UNKNOWN_GUILD_TEMPLATE)
    return row, guild


async def find_own_template(ctx: Context, code: str) -> TemplateRow:
    """The template with a code, of the guild entered. Raises Refusal: 404/10057."""
    row = await queries.select_guild_template(ctx.tx, ctx.guild.id)
    if row is None or row.code != code:
        raise Refusal(errors.UNKNOWN_GUILD_TEMPLATE)
    return row


async def current_snapshot(ctx: Context, guild: GuildState) -> TemplateSnapshot:
    """The snapshot of a guild as it is now, made once for each version of the guild."""
    await guild.channels(ctx.tx)
    return _snapshot(guild)


@once_per_version(GuildPart.SETTINGS, GuildPart.ROLE, GuildPart.CHANNEL)
def _snapshot(guild: GuildState) -> TemplateSnapshot:
    return take_snapshot(guild, guild.loaded_channels.values())


async def template_object(ctx: Context, row: TemplateRow, guild: GuildState) -> GuildTemplate:
    """The template object of a row."""
    return GuildTemplate(
        code=row.code,
        name=row.name,
        description=row.description,
        usage_count=row.usage_count,
        creator_id=row.creator_id,
        creator=await get_user(ctx.tx, row.creator_id),
        created_at=row.created_at,
        updated_at=row.updated_at,
        source_guild_id=row.guild_id,
        serialized_source_guild=row.snapshot,
        is_dirty=guild.version != row.guild_version and await _differs(ctx, row, guild),
    )


async def _differs(ctx: Context, row: TemplateRow, guild: GuildState) -> bool:
    """Whether a guild of another version than the snapshot's differs from it.

    The change may be of something that templates do not keep, such as an emoji.
    """
    return await current_snapshot(ctx, guild) != row.snapshot
