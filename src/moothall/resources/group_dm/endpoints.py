"""Direct messages, and who is in a group of them, over HTTP (resources: user, create DM; channel, group DM)."""

from moothall.kernel.access import MEMBER, SIGNED_IN
from moothall.kernel.context import Context
from moothall.kernel.endpoint import delete, post, put
from moothall.objects.channel import Channel
from moothall.objects.ids import ChannelId, UserId
from moothall.resources.channel.direct import open_direct_message
from moothall.resources.channel.events import DirectChannelCreate
from moothall.resources.group_dm import operations
from moothall.resources.group_dm.requests import AddGroupRecipient, CreateDirectMessage


@post("/users/@me/channels", permission=SIGNED_IN, fires=(DirectChannelCreate,))
async def create_dm(ctx: Context, body: CreateDirectMessage) -> Channel:
    """The direct message with somebody, made if there is none yet; with several, a new group."""
    recipients = list(dict.fromkeys(body.recipients or ()))
    if body.access_tokens or len(recipients) > 1:
        return await operations.create_group(ctx, recipients, body)
    return await open_direct_message(ctx, recipients[0] if recipients else body.recipient_id)


@put(
    "/channels/{channel_id}/recipients/{user_id}",
    permission=MEMBER,
    fires=operations.COMING,
    status=201,
)
async def add_group_dm_user(
    ctx: Context, channel_id: ChannelId, user_id: UserId, body: AddGroupRecipient
) -> Channel | None:
    """Put somebody into a group (204); a direct message of two stays, and a group of three is made (201)."""
    return await operations.add_recipient(ctx, user_id, body)


@delete("/channels/{channel_id}/recipients/{user_id}", permission=MEMBER, fires=operations.LEAVING)
async def delete_group_dm_user(ctx: Context, channel_id: ChannelId, user_id: UserId) -> None:
    """Take somebody out of a group that one owns, or oneself."""
    await operations.remove_recipient(ctx, user_id)
