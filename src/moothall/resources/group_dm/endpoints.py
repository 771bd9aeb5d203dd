"""Creating direct messages, and recipients of groups, over HTTP (resources: user, create DM; channel, group DM)."""

from moothall.api.access import MEMBER, SIGNED_IN
from moothall.api.context import Context
from moothall.api.endpoint import delete, post, put
from moothall.objects.channel import Channel
from moothall.objects.ids import ChannelId, UserId
from moothall.resources.channel.events import DirectChannelCreate
from moothall.resources.channel.operations.direct_message import open_direct_message
from moothall.resources.group_dm import operations
from moothall.resources.group_dm.requests import AddGroupRecipient, CreateDirectMessage


@post("/users/@me/channels", permission=SIGNED_IN, fires=(DirectChannelCreate,))
async def create_dm(ctx: Context, body: CreateDirectMessage) -> Channel:
    """Open the direct message with a user, or create a group direct message with several.

    With the caller's own id beside that of one user it is a group too.
    """
    recipients = list(dict.fromkeys(body.recipients or ()))
    if body.access_tokens or len(recipients) > 1:
        return await operations.create_group_dm(ctx, recipients, body)
    return await open_direct_message(ctx, recipients[0] if recipients else body.recipient_id)


@put(
    "/channels/{channel_id}/recipients/{user_id}",
    permission=MEMBER,
    fires=operations.ADD_RECIPIENT_EVENTS,
    status=201,
)
async def add_group_dm_user(
    ctx: Context, channel_id: ChannelId, user_id: UserId, body: AddGroupRecipient
) -> Channel | None:
    """Add a user to a group direct message (204); in a direct message, create a group of the three users (201)."""
    return await operations.add_group_dm_recipient(ctx, user_id, body)


@delete("/channels/{channel_id}/recipients/{user_id}", permission=MEMBER, fires=operations.REMOVE_RECIPIENT_EVENTS)
async def delete_group_dm_user(ctx: Context, channel_id: ChannelId, user_id: UserId) -> None:
    """Remove a recipient from a group direct message that the caller owns, or the caller from any."""
    await operations.remove_group_dm_recipient(ctx, user_id)
