"""Recent mentions over HTTP (resources: user, recent mentions)."""

from typing import Annotated

from msgspec import Meta

from moothall.api.access import PERSON
from moothall.api.context import Context
from moothall.api.endpoint import Json, delete, get
from moothall.objects import limits
from moothall.objects.ids import GuildId, MessageId
from moothall.objects.message import Message
from moothall.resources.recent_mention import operations
from moothall.resources.recent_mention.events import RecentMentionDelete


@get("/users/@me/mentions", permission=PERSON)
async def list_recent_mentions(
    ctx: Context,
    *,
    before: MessageId | None = None,
    limit: Annotated[int, Meta(ge=1, le=limits.MENTIONS_LISTED_MAX)] = 25,
    guild_id: GuildId | None = None,
    roles: bool = True,
    everyone: bool = True,
) -> Json[list[Message]]:
    """List the messages of the last week that mention the caller, newest first."""
    return Json(
        await operations.list_mentions(
            ctx, before=before, limit=limit, guild_id=guild_id, roles=roles, everyone=everyone
        )
    )


@delete("/users/@me/mentions/{message_id}", permission=PERSON, fires=(RecentMentionDelete,))
async def delete_recent_mention(ctx: Context, message_id: MessageId) -> None:
    """Remove a message from the list of the caller's mentions."""
    await operations.dismiss_mention(ctx, message_id)
