"""Searching messages over HTTP (resources: message, search guild messages, search channel messages)."""

from moothall.api.access import MEMBER
from moothall.api.context import Context
from moothall.api.endpoint import Json, NotReady, get
from moothall.objects.ids import ChannelId, GuildId, MessageId
from moothall.objects.permissions import Permissions
from moothall.resources.message.search import requests
from moothall.resources.message.search.requests import Search, SearchResults
from moothall.resources.message.search.results import search, search_direct_messages


@get("/guilds/{guild_id}/messages/search", permission=Permissions.READ_MESSAGE_HISTORY)
async def search_guild_messages(
    ctx: Context,
    guild_id: GuildId,
    *,
    sort_by: requests.SortBy = "timestamp",
    sort_order: requests.SortOrder = "desc",
    content: requests.Content | None = None,
    slop: requests.Slop = requests.DEFAULT_SLOP,
    author_id: requests.Users | None = None,
    author_type: requests.AuthorTypes | None = None,
    mentions: requests.Users | None = None,
    mentions_role_id: requests.Roles | None = None,
    replied_to_user_id: requests.Users | None = None,
    replied_to_message_id: requests.Messages | None = None,
    mention_everyone: bool | None = None,
    min_id: MessageId | None = None,
    max_id: MessageId | None = None,
    limit: requests.Limit = requests.MAX_RESULTS,
    offset: requests.Offset = 0,
    has: requests.HasValues | None = None,
    link_hostname: requests.Texts | None = None,
    embed_provider: requests.Texts | None = None,
    embed_type: requests.EmbedTypes | None = None,
    attachment_extension: requests.Texts | None = None,
    attachment_filename: requests.FileNames | None = None,
    pinned: bool | None = None,
    include_nsfw: bool = False,
    channel_id: requests.Channels | None = None,
) -> Json[SearchResults] | NotReady:
    """Search messages by their text and other properties, in the channels that the caller may read.

    Every parameter narrows the search; of several values of one, any will do. The response is 202
    with code 110000 until messages from before the index are indexed.
    """
    params = Search(
        sort_by=sort_by,
        sort_order=sort_order,
        content=content,
        slop=slop,
        author_id=author_id,
        author_type=author_type,
        mentions=mentions,
        mentions_role_id=mentions_role_id,
        replied_to_user_id=replied_to_user_id,
        replied_to_message_id=replied_to_message_id,
        mention_everyone=mention_everyone,
        min_id=min_id,
        max_id=max_id,
        limit=limit,
        offset=offset,
        has=has,
        link_hostname=link_hostname,
        embed_provider=embed_provider,
        embed_type=embed_type,
        attachment_extension=attachment_extension,
        attachment_filename=attachment_filename,
        pinned=pinned,
        include_nsfw=include_nsfw,
        channel_id=channel_id,
    )
    return Json(await search(ctx, params))


@get("/channels/{channel_id}/messages/search", permission=MEMBER)
async def search_channel_messages(
    ctx: Context,
    channel_id: ChannelId,
    *,
    sort_by: requests.SortBy = "timestamp",
    sort_order: requests.SortOrder = "desc",
    content: requests.Content | None = None,
    slop: requests.Slop = requests.DEFAULT_SLOP,
    author_id: requests.Users | None = None,
    author_type: requests.AuthorTypes | None = None,
    mentions: requests.Users | None = None,
    mentions_role_id: requests.Roles | None = None,
    replied_to_user_id: requests.Users | None = None,
    replied_to_message_id: requests.Messages | None = None,
    mention_everyone: bool | None = None,
    min_id: MessageId | None = None,
    max_id: MessageId | None = None,
    limit: requests.Limit = requests.MAX_RESULTS,
    offset: requests.Offset = 0,
    has: requests.HasValues | None = None,
    link_hostname: requests.Texts | None = None,
    embed_provider: requests.Texts | None = None,
    embed_type: requests.EmbedTypes | None = None,
    attachment_extension: requests.Texts | None = None,
    attachment_filename: requests.FileNames | None = None,
    pinned: bool | None = None,
) -> Json[SearchResults] | NotReady:
    """Search the messages of a direct message or a group by their text and other properties.

    The parameters and the response are those of a guild's search. Channels of guilds are refused (400, code 50024).
    """
    params = Search(
        sort_by=sort_by,
        sort_order=sort_order,
        content=content,
        slop=slop,
        author_id=author_id,
        author_type=author_type,
        mentions=mentions,
        mentions_role_id=mentions_role_id,
        replied_to_user_id=replied_to_user_id,
        replied_to_message_id=replied_to_message_id,
        mention_everyone=mention_everyone,
        min_id=min_id,
        max_id=max_id,
        limit=limit,
        offset=offset,
        has=has,
        link_hostname=link_hostname,
        embed_provider=embed_provider,
        embed_type=embed_type,
        attachment_extension=attachment_extension,
        attachment_filename=attachment_filename,
        pinned=pinned,
        channel_id=[channel_id],
    )
    return Json(await search_direct_messages(ctx, params))
