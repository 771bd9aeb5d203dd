"""Deleted channels delete their invites; widgets create an invite."""

from moothall.api.context import Context
from moothall.objects.ids import ChannelId
from moothall.resources.channel.operations import CHANNEL_DELETING, CHANNEL_PURGED
from moothall.resources.guild.widget.operations import WIDGET_INVITE
from moothall.resources.invite.events import InviteCreate, InviteDelete
from moothall.resources.invite.operations import delete_invites_of_channel, get_or_create_widget_invite
from moothall.resources.invite.queries import delete_channel_invites


async def _delete_late_invites(ctx: Context, channel_id: ChannelId) -> None:
    """Delete invites that a concurrent transaction has inserted after the channel was deleted."""
    await delete_channel_invites(ctx.tx, channel_id)


CHANNEL_DELETING.register(delete_invites_of_channel, fires=(InviteDelete,), order=10)
CHANNEL_PURGED.register(_delete_late_invites)
WIDGET_INVITE.register(get_or_create_widget_invite, fires=(InviteCreate,))
