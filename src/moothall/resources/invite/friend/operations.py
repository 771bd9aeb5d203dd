"""Operations: create, accept and revoke friend invites."""

from moothall.api.authenticate import TokenKind
from moothall.api.context import Context
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal
from moothall.objects.invite import Invite, InviteMetadata
from moothall.resources.invite.codes import random_code
from moothall.resources.invite.friend import queries
from moothall.resources.invite.friend.lookup import show_friend_invite
from moothall.resources.invite.friend.objects import friend_invite_metadata
from moothall.resources.invite.friend.queries import FriendInviteRow
from moothall.resources.user.queries import get_user, lock_user, select_user
from moothall.resources.user.relationship.operations import make_friends


async def create_friend_invite(ctx: Context) -> InviteMetadata:
    """Create an invite of the caller for five users within a week. Raises Refusal: 400/30016 at ten live ones."""
    user_id = ctx.actor.user_id
    # Locked, so that two requests at once cannot both count nine.
    await lock_user(ctx.tx, user_id)
    await queries.delete_ended(ctx.tx, user_id, ctx.now)
    if len(await queries.select_friend_invites(ctx.tx, user_id, ctx.now)) >= limits.FRIEND_INVITES_PER_USER:
        raise Refusal(errors.TOO_MANY_INVITES)
    row = FriendInviteRow(
        user_id=user_id,
        code=random_code(),
        max_age=limits.FRIEND_INVITE_MAX_AGE,
        max_uses=limits.FRIEND_INVITE_MAX_USES,
        uses=0,
        created_at=ctx.now,
        expires_at=type(ctx.now)(ctx.now + 1000 * limits.FRIEND_INVITE_MAX_AGE),
    )
    while not await queries.insert_friend_invite(ctx.tx, row):
        row.code = random_code()
    return friend_invite_metadata(row, await get_user(ctx.tx, user_id))


async def list_friend_invites(ctx: Context) -> list[InviteMetadata]:
    """Return the live invites of the caller, oldest first."""
    rows = await queries.select_friend_invites(ctx.tx, ctx.actor.user_id, ctx.now)
    inviter = await get_user(ctx.tx, ctx.actor.user_id)
    return [friend_invite_metadata(row, inviter) for row in rows]


async def revoke_friend_invites(ctx: Context) -> list[InviteMetadata]:
    """Delete all invites of the caller; return those that were live."""
    revoked = await list_friend_invites(ctx)
    await queries.delete_friend_invites(ctx.tx, ctx.actor.user_id)
    return revoked


async def accept_friend_invite(ctx: Context, row: FriendInviteRow) -> Invite:
    """Become a friend of the inviter and count the use; for a friend nothing changes and no use is counted.

    Raises Refusal: 403/20001 for access tokens, 404/10006 for a used up invite, and what `make_friends` raises.
    """
    if ctx.actor.kind is not TokenKind.SESSION:
        raise Refusal(errors.BOTS_CANNOT_USE)
    inviter = await select_user(ctx.tx, row.user_id)
    if inviter is None or inviter.deleted or inviter.disabled:
        raise Refusal(errors.UNKNOWN_INVITE)
    if await make_friends(ctx, inviter):
        if not await queries.count_use(ctx.tx, row, ctx.now):
            raise Refusal(errors.UNKNOWN_INVITE)
        await queries.delete_ended(ctx.tx, row.user_id, ctx.now)
    return await show_friend_invite(ctx, row)


async def delete_friend_invite(ctx: Context, row: FriendInviteRow) -> Invite:
    """Delete an invite of the caller; return it. Raises Refusal: 404/10006 if it is deleted already."""
    invite = await show_friend_invite(ctx, row)
    if not await queries.delete_friend_invite(ctx.tx, row):
        raise Refusal(errors.UNKNOWN_INVITE)
    return invite
