"""Members who enter and leave voice channels."""

from moothall.objects.ids import ChannelId
from moothall.resources.voice.operations.sessions import handle_voice_update
from tests.support.harness import Caller, Guild, Platform


async def go(
    platform: Platform, guild: Guild, who: Caller, channel: ChannelId | None, *, session: str = "s1", **options: bool
) -> bool:
    flags = {"self_mute": False, "self_deaf": False, "self_video": False, **options}
    return await handle_voice_update(
        platform.services,
        user_id=who.id,
        session_id=session,
        guild_id=guild.id,
        channel_id=channel,
        node="n1",
        **flags,
    )
