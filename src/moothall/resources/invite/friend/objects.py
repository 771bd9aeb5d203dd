"""The objects of friend invites."""

from msgspec import UNSET

from moothall.objects.invite import Invite, InviteMetadata, InviteType
from moothall.objects.user import User
from moothall.resources.invite.friend.queries import FriendInviteRow


def friend_invite_metadata(row: FriendInviteRow, inviter: User | None) -> InviteMetadata:
    """The invite object with metadata. Its channel is null."""
    return InviteMetadata(
        type=InviteType.FRIEND,
        code=row.code,
        channel=None,
        inviter=UNSET if inviter is None else inviter,
        expires_at=row.expires_at,
        flags=0,
        uses=row.uses,
        max_uses=row.max_uses,
        max_age=row.max_age,
        temporary=False,
        created_at=row.created_at,
    )


def friend_invite_object(row: FriendInviteRow, inviter: User | None) -> Invite:
    """The public invite object."""
    shown = UNSET if inviter is None else inviter
    return Invite(
        type=InviteType.FRIEND, code=row.code, channel=None, inviter=shown, expires_at=row.expires_at, flags=0
    )
