"""Saved messages over HTTP (resources: user, saved messages)."""

from msgspec import Struct

from moothall.api.access import PERSON
from moothall.api.context import Context
from moothall.api.endpoint import Json, delete, get, put
from moothall.objects.ids import ChannelId, MessageId
from moothall.objects.saved_message import SavedMessage, SavedMessages
from moothall.objects.wire import Timestamp
from moothall.resources.read_state.access import PERSON_INSIDE
from moothall.resources.saved_message import operations
from moothall.resources.saved_message.events import SavedMessageCreate, SavedMessageDelete


class SaveMessage(Struct, frozen=True, kw_only=True):
    """The body of Save Message."""

    due_at: Timestamp | None = None
    """When the message is due, which clients remind of."""


@get("/users/@me/saved-messages", permission=PERSON)
async def list_saved_messages(ctx: Context) -> Json[SavedMessages]:
    """List the messages that the caller has saved, those saved last first."""
    return Json(await operations.list_saved(ctx))


@put(
    "/users/@me/saved-messages/{channel_id}/{message_id}",
    permission=PERSON_INSIDE,
    fires=(SavedMessageCreate,),
    status=200,
)
async def save_message(
    ctx: Context, channel_id: ChannelId, message_id: MessageId, body: SaveMessage
) -> Json[SavedMessage]:
    """Save a message, or change when it is due. At most 200 with a moment when they are due, and 200 without."""
    return Json(await operations.save_message(ctx, message_id, body.due_at))


@delete("/users/@me/saved-messages/{saved_channel_id}/{message_id}", permission=PERSON, fires=(SavedMessageDelete,))
async def unsave_message(ctx: Context, saved_channel_id: ChannelId, message_id: MessageId) -> None:
    """Save a message no longer; its channel need not exist any more."""
    await operations.unsave_message(ctx, saved_channel_id, message_id)
