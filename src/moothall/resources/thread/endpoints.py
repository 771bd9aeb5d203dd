"""Threads over HTTP (api.md, Channels and threads of a guild; resources: channel, threads)."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from moothall.api.access import MEMBER, any_of
from moothall.api.context import Context
from moothall.api.endpoint import Json, delete, get, patch, post, put
from moothall.objects import limits
from moothall.objects.channel import Channel, ThreadList, ThreadMember
from moothall.objects.ids import ChannelId, GuildId, MessageId, TagId, UserId
from moothall.objects.member import Member
from moothall.objects.message import Message
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.resources.channel.thread_activity.events import (
    ADD_MEMBER_EVENTS,
    ThreadCreate,
    ThreadMembersUpdate,
    ThreadMemberUpdate,
)
from moothall.resources.message.events import MessageCreate, MessageUpdate
from moothall.resources.message.submitted_content import CONTENT_SUBMITTED
from moothall.resources.message.uploads import IN_CHANNEL
from moothall.resources.read_state.access import PERSON_INSIDE
from moothall.resources.thread import listing, message_fields  # noqa: F401 message_fields: registers readers
from moothall.resources.thread.operations import membership, starting
from moothall.resources.thread.queries import ThreadSearch
from moothall.resources.thread.requests import ModifyThreadSettings, StartedThread, StartThread, StartThreadFromMessage

PageSize = Annotated[int, Meta(ge=1, le=limits.THREAD_LIST_MAX)]
_HISTORY = Permissions.READ_MESSAGE_HISTORY


class ActiveThreads(Struct, frozen=True, kw_only=True):
    """The response of List Active Guild Threads, which has no pages."""

    threads: list[Channel]
    members: list[ThreadMember]
    """The caller's thread members, of those of the threads that they have joined."""
    has_more: bool = False


class ThreadSearchResults(ThreadList, frozen=True, kw_only=True):
    """A page of search results with the first messages of the threads, and the total number of results."""

    total_results: int
    first_messages: list[Message]


class PostDataRequest(Struct, frozen=True):
    """The threads whose owners and first messages are requested."""

    thread_ids: Annotated[list[ChannelId], Meta(min_length=1, max_length=limits.POST_DATA_MAX)]


class PostPreview(Struct, frozen=True):
    """The owner of a thread, if they are still a member of the guild, and its first message, if it has one."""

    owner: Member | None
    first_message: Message | None


class PostData(Struct, frozen=True):
    """Owners and first messages by thread."""

    threads: dict[ChannelId, PostPreview]


@get("/guilds/{guild_id}/threads/active", permission=MEMBER)
async def list_active_guild_threads(ctx: Context, guild_id: GuildId) -> Json[ActiveThreads]:
    """List the active threads of a guild that the caller may view, newest first."""
    return Json(await listing.list_active(ctx, guild_id), names_files=False)


@post(
    "/channels/{channel_id}/messages/{message_id}/threads",
    permission=Permissions.CREATE_PUBLIC_THREADS,
    audit_reason=True,
    fires=(ThreadCreate, ThreadMembersUpdate, MessageCreate, MessageUpdate, CONTENT_SUBMITTED),
    status=201,
)
async def start_thread_from_message(
    ctx: Context, channel_id: ChannelId, message_id: MessageId, body: StartThreadFromMessage
) -> Channel:
    """Start a thread from a message; it has the message's id."""
    return await starting.start_thread_from_message(ctx, message_id, body)


@post(
    "/channels/{channel_id}/threads",
    permission=any_of(Permissions.SEND_MESSAGES, Permissions.CREATE_PUBLIC_THREADS, Permissions.CREATE_PRIVATE_THREADS),
    audit_reason=True,
    fires=(ThreadCreate, MessageCreate, CONTENT_SUBMITTED, *ADD_MEMBER_EVENTS),
    status=201,
    uploads=IN_CHANNEL,
    forms=True,
)
async def start_thread(ctx: Context, channel_id: ChannelId, body: StartThread) -> Json[StartedThread]:
    """Start a thread without a message; in a forum or media channel, with its first message.

    A private thread requires CREATE_PRIVATE_THREADS, a public one CREATE_PUBLIC_THREADS, one of a forum SEND_MESSAGES.
    """
    return Json(await starting.start_thread(ctx, body))


@put("/channels/{channel_id}/thread-members/@me", permission=MEMBER, fires=ADD_MEMBER_EVENTS)
async def join_thread(ctx: Context, channel_id: ChannelId) -> None:
    """Join a thread."""
    await membership.join_thread(ctx)


@post("/channels/{channel_id}/thread-members/@me", status=204, permission=MEMBER, fires=ADD_MEMBER_EVENTS)
async def join_thread_by_post(ctx: Context, channel_id: ChannelId) -> None:
    """Join a thread, as clients of people do."""
    await membership.join_thread(ctx)


@put("/channels/{channel_id}/thread-members/{user_id}", permission=MEMBER, fires=(MessageCreate, *ADD_MEMBER_EVENTS))
async def add_thread_member(ctx: Context, channel_id: ChannelId, user_id: UserId) -> None:
    """Add a guild member to a thread in which the caller may send messages."""
    await membership.add_thread_member(ctx, user_id)


@delete("/channels/{channel_id}/thread-members/@me", permission=MEMBER, fires=(ThreadMembersUpdate,))
async def leave_thread(ctx: Context, channel_id: ChannelId) -> None:
    """Leave a thread."""
    await membership.leave_thread(ctx)


@patch("/channels/{channel_id}/thread-members/@me/settings", permission=PERSON_INSIDE, fires=(ThreadMemberUpdate,))
async def modify_thread_settings(
    ctx: Context, channel_id: ChannelId, body: ModifyThreadSettings
) -> ThreadMember | None:
    """Change one's own notification settings of a thread, or mute it; 204 if nothing changes."""
    return await membership.modify_own_settings(ctx, body)


@delete(
    "/channels/{channel_id}/thread-members/{user_id}", permission=MEMBER, fires=(MessageCreate, ThreadMembersUpdate)
)
async def remove_thread_member(ctx: Context, channel_id: ChannelId, user_id: UserId) -> None:
    """Remove a member from a thread: with MANAGE_THREADS, or as the owner of a private thread."""
    await membership.remove_thread_member(ctx, user_id)


@get("/channels/{channel_id}/thread-members/{user_id}", permission=MEMBER)
async def get_thread_member(
    ctx: Context, channel_id: ChannelId, user_id: UserId, *, with_member: bool = False
) -> ThreadMember:
    """Get a thread member."""
    return await listing.get_thread_member(ctx, user_id, with_member=with_member)


@get("/channels/{channel_id}/thread-members", permission=MEMBER)
async def list_thread_members(
    ctx: Context,
    channel_id: ChannelId,
    *,
    with_member: bool = False,
    after: UserId | None = None,
    limit: PageSize | None = None,
) -> list[ThreadMember]:
    """List the members of a thread by user id: all of them, or a page with `limit` or `with_member`."""
    return await listing.list_thread_members(ctx, after, limit, with_member=with_member)


@get("/channels/{channel_id}/threads/archived/public", permission=_HISTORY)
async def list_public_archived_threads(
    ctx: Context, channel_id: ChannelId, *, before: Timestamp | None = None, limit: PageSize = 50
) -> Json[ThreadList]:
    """List the archived public threads of a channel, latest archived first."""
    return Json(await listing.list_public_archived(ctx, before, limit))


@get("/channels/{channel_id}/threads/archived/private", permission=_HISTORY | Permissions.MANAGE_THREADS)
async def list_private_archived_threads(
    ctx: Context, channel_id: ChannelId, *, before: Timestamp | None = None, limit: PageSize = 50
) -> Json[ThreadList]:
    """List the archived private threads of a channel, latest archived first."""
    return Json(await listing.list_private_archived(ctx, before, limit))


@get("/channels/{channel_id}/users/@me/threads/archived/private", permission=_HISTORY)
async def list_joined_private_archived_threads(
    ctx: Context, channel_id: ChannelId, *, before: ChannelId | None = None, limit: PageSize = 50
) -> Json[ThreadList]:
    """List the archived private threads of a channel that the caller is in, newest first."""
    return Json(await listing.list_joined_private_archived(ctx, before, limit))


@get("/channels/{channel_id}/threads/search", permission=_HISTORY)
async def search_threads(
    ctx: Context,
    channel_id: ChannelId,
    *,
    name: Annotated[str, Meta(max_length=limits.THREAD_NAME_MAX)] | None = None,
    slop: Annotated[int, Meta(ge=0, le=100)] | None = None,
    min_id: ChannelId | None = None,
    max_id: ChannelId | None = None,
    tag: Annotated[list[TagId], Meta(max_length=limits.FORUM_TAGS_MAX)] | None = None,
    tag_setting: Literal["match_all", "match_some"] = "match_some",
    archived: bool | None = None,
    sort_by: Literal["relevance", "creation_time", "last_message_time", "archive_time"] = "last_message_time",
    sort_order: Literal["asc", "desc"] = "desc",
    limit: Annotated[int, Meta(ge=1, le=limits.THREAD_SEARCH_MAX)] = limits.THREAD_SEARCH_MAX,
    offset: Annotated[int, Meta(ge=0, le=limits.THREAD_SEARCH_OFFSET_MAX)] = 0,
) -> Json[ThreadSearchResults]:
    """Search the public threads of a channel, usually a forum, by the words of their names, in any order."""
    search = ThreadSearch(
        words=listing.search_words(name),
        tags=tuple(dict.fromkeys(tag or ())),
        every_tag=tag_setting == "match_all",
        archived=archived,
        min_id=min_id,
        max_id=max_id,
        # Every result has all words, so the newest message is the best measure of relevance.
        order="last_message_time" if sort_by == "relevance" else sort_by,
        ascending=sort_order == "asc",
        maximum=limit,
        offset=offset,
    )
    return Json(await listing.search_threads(ctx, search))


@post("/channels/{channel_id}/post-data", permission=_HISTORY, writes=False)
async def get_channel_post_data(ctx: Context, channel_id: ChannelId, body: PostDataRequest) -> Json[PostData]:
    """Get the owners and first messages of up to 50 public threads of a channel, usually posts of a forum.

    Threads of other channels, private ones and unknown ids are left out.
    """
    return Json(await listing.get_post_data(ctx, body.thread_ids))
