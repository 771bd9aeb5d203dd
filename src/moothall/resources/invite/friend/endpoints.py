"""Friend invites over HTTP (resources: invite)."""

from moothall.api.access import PERSON
from moothall.api.context import Context
from moothall.api.endpoint import delete, get, post
from moothall.objects.invite import InviteMetadata
from moothall.resources.invite.friend import operations


@get("/users/@me/invites", permission=PERSON)
async def list_user_invites(ctx: Context) -> list[InviteMetadata]:
    """List the caller's live friend invites."""
    return await operations.list_friend_invites(ctx)


@post("/users/@me/invites", permission=PERSON)
async def create_user_invite(ctx: Context) -> InviteMetadata:
    """Create a friend invite for five users within a week. At most ten at once."""
    return await operations.create_friend_invite(ctx)


@delete("/users/@me/invites", permission=PERSON)
async def revoke_user_invites(ctx: Context) -> list[InviteMetadata]:
    """Revoke all friend invites of the caller; returns those that were live."""
    return await operations.revoke_friend_invites(ctx)
