"""Searching messages over HTTP (resources: message, search guild messages, search channel messages)."""

from moothall.api.access import MEMBER
from moothall.api.context import Context
from moothall.api.endpoint import Json, NotReady, get
from moothall.objects.ids import ChannelId, GuildId
from moothall.objects.permissions import Permissions
from moothall.resources.message.search.requests import GuildSearch, Search, SearchResults
from moothall.resources.message.search.results import search_direct_messages, search_guild


@get("/guilds/{guild_id}/messages/search", permission=Permissions.READ_MESSAGE_HISTORY)
async def search_guild_messages(
    ctx: Context, guild_id: GuildId, *, query: GuildSearch
) -> Json[SearchResults] | NotReady:
    """Search messages by their text and other properties, in the channels that the caller may read.

    Every parameter narrows the search; of several values of one, any will do. The response is 202
    with code 110000 until messages from before the index are indexed.
    """
    return Json(await search_guild(ctx, query))


@get("/channels/{channel_id}/messages/search", permission=MEMBER)
async def search_channel_messages(
    ctx: Context, channel_id: ChannelId, *, query: Search
) -> Json[SearchResults] | NotReady:
    """Search the messages of a direct message or a group by their text and other properties.

    The parameters and the response are those of a guild's search. Channels of guilds are refused (400, code 50024).
    """
    return Json(await search_direct_messages(ctx, query))
