"""Relationships over HTTP (resources: relationships)."""

from msgspec import UNSET

from moothall.api.access import PERSON
from moothall.api.context import Context
from moothall.api.endpoint import delete, get, patch, post, put
from moothall.objects.errors import refuse_field
from moothall.objects.form_codes import FieldError
from moothall.objects.ids import UserId
from moothall.objects.relationship import Relationship, RelationshipType
from moothall.resources.user.relationship import operations
from moothall.resources.user.relationship.events import RelationshipAdd, RelationshipRemove, RelationshipUpdate
from moothall.resources.user.relationship.objects import relationship_objects
from moothall.resources.user.relationship.queries import select_relationships
from moothall.resources.user.relationship.requests import (
    BulkRemoveRelationships,
    CreateRelationship,
    ModifyRelationship,
    SendFriendRequest,
)

_INCOMING = int(RelationshipType.INCOMING_REQUEST)


@get("/users/@me/relationships", permission=PERSON)
async def list_relationships(ctx: Context) -> list[Relationship]:
    """List the caller's friends, friend requests, blocked and ignored users."""
    return await relationship_objects(ctx.tx, await select_relationships(ctx.tx, ctx.actor.user_id))


@post("/users/@me/relationships", permission=PERSON, fires=(RelationshipAdd, operations.FRIENDS_MADE), status=204)
async def send_friend_request(ctx: Context, body: SendFriendRequest) -> None:
    """Send a friend request by username, or accept the user's own. At most 1,000 friends and requests."""
    await operations.send_friend_request(ctx, body)


@delete("/users/@me/relationships", permission=PERSON, fires=(RelationshipRemove,))
async def bulk_remove_relationships(
    ctx: Context, body: BulkRemoveRelationships, *, relationship_type: int = _INCOMING, only_spam: bool = False
) -> None:
    """Decline the friend requests to the caller that meet all filters."""
    if relationship_type != _INCOMING:
        refuse_field("relationship_type", *FieldError.choices((str(_INCOMING),)))
    await operations.decline_requests(ctx, [*(body.filters or ()), *([1] if only_spam else [])])


@put(
    "/users/@me/relationships/{user_id}",
    permission=PERSON,
    fires=(RelationshipAdd, RelationshipRemove, operations.FRIENDS_MADE),
)
async def create_relationship(ctx: Context, user_id: UserId, body: CreateRelationship) -> None:
    """Send or accept a friend request, or block a user. At most 5,000 blocked users."""
    await operations.create_relationship(ctx, user_id, body)


@patch("/users/@me/relationships/{user_id}", permission=PERSON, fires=(RelationshipUpdate,))
async def modify_relationship(ctx: Context, user_id: UserId, body: ModifyRelationship) -> None:
    """Set the nickname of a friend, which only the caller sees."""
    if body.nickname is not UNSET:
        await operations.modify_relationship(ctx, user_id, body.nickname)


@delete("/users/@me/relationships/{user_id}", permission=PERSON, fires=(RelationshipRemove,))
async def remove_relationship(ctx: Context, user_id: UserId) -> None:
    """End a friendship, withdraw or decline a friend request, or unblock a user."""
    await operations.remove_relationship(ctx, user_id)


@put("/users/@me/relationships/{user_id}/ignore", permission=PERSON, fires=(RelationshipAdd, RelationshipUpdate))
async def ignore_user(ctx: Context, user_id: UserId) -> None:
    """Ignore a user, whose messages count as no mentions of the caller."""
    await operations.ignore(ctx, user_id)


@delete("/users/@me/relationships/{user_id}/ignore", permission=PERSON, fires=(RelationshipUpdate, RelationshipRemove))
async def stop_ignoring_user(ctx: Context, user_id: UserId) -> None:
    """Stop ignoring a user."""
    await operations.stop_ignoring(ctx, user_id)
