"""Messages with components, old and new, and bots that send them."""

from typing import Any

from sqlalchemy import insert

from moothall.storage.database import Query
from moothall.storage.schema import emojis
from tests.resources.message.messaging import bot_of, guild_of
from tests.support.harness import Caller, Guild, Platform

V2 = 1 << 15
LEGACY = "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2"
EVERY_FLAG = 1 << 13 | 1 << 15 | 1 << 19
_insert_emoji = Query(insert(emojis))


async def botted(platform: Platform, **values: Any) -> tuple[Caller, Guild, str]:
    """A bot in a guild, and the path of its channel's messages."""
    _, guild, url = await guild_of(platform, **values)
    return await bot_of(platform, guild, flags=EVERY_FLAG), guild, url


async def emoji_in(platform: Platform, guild: Guild, **values: Any) -> int:
    emoji_id = int(platform.ids.next())
    async with platform.database.transaction() as tx:
        await tx.execute(_insert_emoji, guild_id=guild.id, id=emoji_id, name="ship", roles=[], **values)
    await guild.set(name="Changed")
    return emoji_id
