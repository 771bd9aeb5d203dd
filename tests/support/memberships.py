"""Members who join guilds and voice channels."""

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
from moothall.objects.ids import ChannelId
from moothall.resources.guild.membership.operations import (
    join_guild,
)
from moothall.resources.user.queries import select_user
from moothall.resources.voice.queries import VoiceStateRow, upsert_voice_state
from moothall.storage.rows import MemberRow
from tests.support.harness import Caller, Guild, Platform


async def join(platform: Platform, guild: Guild, who: Caller, **options: object) -> MemberRow:
    async def work(ctx: Context) -> MemberRow:
        state = await platform.services.states.state(ctx.tx, guild.id, writes=True)
        user = await select_user(ctx.tx, who.id)
        assert state is not None
        assert user is not None
        return await join_guild(ctx, state, user, **options)  # type: ignore[arg-type]

    return await unit_of_work.run(platform.services, ANONYMOUS, work)


def voice_row(guild: Guild, who: Caller, channel: ChannelId) -> VoiceStateRow:
    return VoiceStateRow(
        guild_id=guild.id,
        user_id=who.id,
        channel_id=channel,
        session_id="s" * 32,
        self_deaf=False,
        self_mute=False,
        self_stream=False,
        self_video=False,
        suppress=False,
        request_to_speak_timestamp=None,
        node="",
        started_at=None,
    )


async def enter_voice(platform: Platform, guild: Guild, who: Caller, channel: ChannelId) -> None:
    async with platform.database.transaction() as tx:
        await upsert_voice_state(tx, voice_row(guild, who, channel))
