"""Finding friend invites by their codes."""

from moothall.api.context import Context
from moothall.objects.invite import Invite
from moothall.objects.relationship import RelationshipType
from moothall.resources.invite.friend.objects import friend_invite_object
from moothall.resources.invite.friend.queries import FriendInviteRow, select_friend_invite
from moothall.resources.user.queries import get_user
from moothall.resources.user.relationship.queries import select_relationship


async def find_friend_invite(ctx: Context, code: str) -> FriendInviteRow | None:
    """Return the live friend invite with a code that the caller may see; None for any other code.

    Bots may see none, nor may users whom the inviter has blocked.
    """
    row = await select_friend_invite(ctx.tx, code, ctx.now)
    if row is None or ctx.actor.bot:
        return None
    theirs = await select_relationship(ctx.tx, row.user_id, ctx.actor.user_id)
    return None if theirs is not None and theirs.type == RelationshipType.BLOCKED else row


async def show_friend_invite(ctx: Context, row: FriendInviteRow) -> Invite:
    """Return the public invite object of a friend invite."""
    return friend_invite_object(row, await get_user(ctx.tx, row.user_id))
