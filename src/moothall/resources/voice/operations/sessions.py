"""Operations: voice states that gateway sessions change, and that end with them."""

from collections.abc import Collection, Iterable

from moothall.api.authenticate import ANONYMOUS, Actor, TokenKind
from moothall.api.context import Context, Services
from moothall.api.unit_of_work import run
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, GuildId, UserId
from moothall.resources.voice import queries
from moothall.resources.voice.events import VOICE_EVENTS
from moothall.resources.voice.operations.voice_state import announce_departures, update_voice_state
from moothall.resources.voice.queries import VoiceStateRow


async def handle_voice_update(
    services: Services,
    *,
    user_id: UserId,
    session_id: str,
    guild_id: GuildId,
    channel_id: ChannelId | None,
    self_mute: bool,
    self_deaf: bool,
    self_video: bool,
    node: str = "",
) -> bool:
    """Handle opcode 4 of a gateway session; return False, without an effect, if it is refused.

    `node` is the gateway node of the session, for `clear_voice`.
    """

    async def work(ctx: Context) -> None:
        await ctx.enter_guild(guild_id)
        await update_voice_state(
            ctx,
            session_id=session_id,
            channel_id=channel_id,
            self_mute=self_mute,
            self_deaf=self_deaf,
            self_video=self_video,
            node=node,
        )

    try:
        await run(services, _actor(user_id), work, fires=VOICE_EVENTS, lock=guild_id)
    except Refusal:
        return False
    return True


async def leave_voice(services: Services, user_id: UserId, session_id: str) -> list[tuple[GuildId, UserId]]:
    """Delete the voice states of a gateway session that has ended; return their guilds and users."""
    async with services.database.read() as reader:
        rows = await queries.select_states_of_session(reader, user_id, session_id)
    for guild_id in sorted({row.guild_id for row in rows}):

        async def work(ctx: Context, guild_id: GuildId = guild_id) -> None:
            row = await queries.get_voice_state(ctx.tx, guild_id, user_id)
            # Another session of the user may have replaced the voice state since.
            if row is not None and row.session_id == session_id:
                await queries.delete_voice_state(ctx.tx, guild_id, user_id)
                await announce_departures(ctx, [row])

        await run(services, _actor(user_id), work, fires=VOICE_EVENTS, lock=guild_id)
    return _pairs(rows)


async def clear_voice(services: Services, node: str = "") -> list[tuple[GuildId, UserId]]:
    """Delete the voice states of a gateway node that starts, whose sessions have ended; return guilds and users."""

    async def work(ctx: Context) -> list[tuple[GuildId, UserId]]:
        rows = await queries.select_states_of_node(ctx.tx, node)
        if rows:
            await queries.delete_states_of_node(ctx.tx, node)
            await announce_departures(ctx, rows)
        return _pairs(rows)

    return await run(services, ANONYMOUS, work, fires=VOICE_EVENTS)


async def clear_voice_of_others(services: Services, alive: Collection[str]) -> list[tuple[GuildId, UserId]]:
    """Delete the voice states of gateway nodes other than those alive; return guilds and users."""
    ended = []
    async with services.database.read() as reader:
        nodes = await queries.select_nodes(reader)
    for node in nodes:
        if node not in alive:
            ended.extend(await clear_voice(services, node))
    return ended


def _pairs(rows: Iterable[VoiceStateRow]) -> list[tuple[GuildId, UserId]]:
    return [(row.guild_id, row.user_id) for row in rows]


def _actor(user_id: UserId) -> Actor:
    return Actor(kind=TokenKind.SESSION, user_id=user_id)
