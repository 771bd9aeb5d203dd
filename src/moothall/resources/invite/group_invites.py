"""Building invites to group direct messages, and their objects."""

from msgspec import UNSET, UnsetType

from moothall.api.context import Context
from moothall.authority.channel_queries import select_channel
from moothall.objects import errors, limits
from moothall.objects.channel import InviteRecipient, PartialChannel
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.invite import Invite, InviteMetadata, InviteType
from moothall.resources.channel.objects import direct_channel_objects
from moothall.resources.invite.queries import InviteRow
from moothall.resources.user.queries import get_users


def new_group_invite(ctx: Context, max_age: int | UnsetType | None) -> InviteRow:
    """A new invite to the group entered, without a code. It always expires, after a week at the latest."""
    age = max_age if isinstance(max_age, int) and max_age else limits.INVITE_MAX_AGE_DEFAULT
    return InviteRow(
        code="",
        guild_id=None,
        channel_id=ctx.channel.id,
        inviter_id=ctx.actor.user_id,
        type=InviteType.GROUP_DM,
        target_type=None,
        target_user_id=None,
        target_application_id=None,
        max_age=age,
        max_uses=0,
        uses=0,
        temporary=False,
        created_at=ctx.now,
        expires_at=type(ctx.now)(ctx.now + 1000 * age),
        flags=0,
        role_ids=[],
    )


async def group_invite_metadata(ctx: Context, row: InviteRow) -> InviteMetadata:
    """The invite object with metadata of a group invite. Raises Refusal: 404/10006 for a deleted group."""
    channel = await select_channel(ctx.tx, row.channel_id)
    if channel is None or channel.type != ChannelType.GROUP_DM:
        raise Refusal(errors.UNKNOWN_INVITE)
    group = (await direct_channel_objects(ctx.tx, [channel], None))[0]
    inviter = {} if row.inviter_id is None else await get_users(ctx.tx, [row.inviter_id])
    return InviteMetadata(
        type=row.type,
        code=row.code,
        channel=PartialChannel(
            id=group.id,
            type=group.type,
            name=group.name or None,
            icon=group.icon or UNSET,
            recipients=[
                InviteRecipient(id=user.id, username=user.username, avatar=user.avatar)
                for user in group.recipients or ()
            ],
        ),
        inviter=next(iter(inviter.values()), UNSET),
        expires_at=row.expires_at,
        uses=row.uses,
        max_uses=row.max_uses,
        max_age=row.max_age,
        temporary=row.temporary,
        created_at=row.created_at,
    )


async def group_invite_object(ctx: Context, row: InviteRow, *, with_counts: bool = False) -> Invite:
    """The public invite object of a group invite. Raises Refusal: 404/10006 for a deleted group."""
    invite = await group_invite_metadata(ctx, row)
    recipients = () if invite.channel is None else invite.channel.recipients or ()
    return Invite(
        type=invite.type,
        code=invite.code,
        channel=invite.channel,
        inviter=invite.inviter,
        approximate_member_count=len(recipients) if with_counts else UNSET,
        expires_at=invite.expires_at,
    )
