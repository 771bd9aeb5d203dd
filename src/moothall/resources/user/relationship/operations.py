"""Operations: send and accept friend requests, block, ignore, rename and remove users."""

from collections.abc import Collection
from typing import Final

from msgspec import UNSET, structs

from moothall.api.context import Context
from moothall.api.hooks import Hook
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FieldError
from moothall.objects.ids import UserId
from moothall.objects.relationship import RelationshipType
from moothall.objects.text import clean_name, search_key
from moothall.objects.user import User
from moothall.objects.user_settings import FriendSourceFlags
from moothall.resources.user.queries import get_users, lock_user, select_by_username, select_user
from moothall.resources.user.relationship import queries
from moothall.resources.user.relationship.contact_limits import count_stranger
from moothall.resources.user.relationship.events import (
    AddedRelationship,
    RelationshipAdd,
    RelationshipRemove,
    RelationshipUpdate,
)
from moothall.resources.user.relationship.objects import fields_of, partial_relationship
from moothall.resources.user.relationship.queries import RelationshipRow
from moothall.resources.user.relationship.requests import CreateRelationship, SendFriendRequest
from moothall.resources.user.settings.reading import settings_of
from moothall.storage.rows import UserRow

FRIENDS_MADE: Final = Hook[[Context, UserId], None]("friends made")
"""Called when the caller accepts a user's friend request or friend invite."""

_SPAM_FILTER: Final = 1
_IGNORED_FILTER: Final = 2
_Type = RelationshipType


async def send_friend_request(ctx: Context, body: SendFriendRequest) -> None:
    """Send a friend request to the user with a username, or accept the user's own.

    Raises Refusal: 400/80004 for an unknown username, else as `befriend`.
    """
    other = await select_by_username(ctx.tx, search_key(body.username.strip()))
    if other is None or body.discriminator not in {None, "", 0, "0", "0000", other.discriminator}:
        raise Refusal(errors.NO_SUCH_TAG_USERS)
    await befriend(ctx, other, note=body.note)


async def create_relationship(ctx: Context, user_id: UserId, body: CreateRelationship) -> None:
    """Send or accept a friend request, or block a user.

    Raises Refusal: 404/10013 for an unknown user, 400/80005 for the type FRIEND without a request, 400/50035 for
    another type, else as `befriend` and `block`.
    """
    other = await select_user(ctx.tx, user_id)
    if other is None or other.deleted:
        raise Refusal(errors.UNKNOWN_USER)
    if body.type == _Type.BLOCKED:
        await block(ctx, other)
    elif body.type in {None, -1, _Type.FRIEND}:
        await befriend(ctx, other, note=body.note, accepts_only=body.type == _Type.FRIEND)
    else:
        refuse_field("type", *FieldError.choices(("-1", "1", "2")))


async def befriend(ctx: Context, other: UserRow, *, note: str | None = None, accepts_only: bool = False) -> None:
    """Send a friend request, or accept the user's own; sending it again changes nothing.

    A user whom the caller has blocked is unblocked. Raises Refusal: 400/80002 for bots, 80003 for the caller, 80001 for
    a user who has blocked the caller, 80007 for a friend, 80005 if `accepts_only` and there is no request, 80000 for a
    user with too many requests, 30002 at `FRIENDS_MAX`; 429/40062 after too many requests to strangers.
    """
    caller_id = ctx.actor.user_id
    if other.id == caller_id:
        raise Refusal(errors.FRIEND_REQUEST_TO_SELF)
    if other.bot or other.system:
        raise Refusal(errors.BOTS_CANNOT_HAVE_FRIENDS)
    own, theirs = await _lock_both(ctx, other.id)
    own_type = _Type.NONE if own is None else _Type(own.type)
    if own_type is _Type.FRIEND:
        raise Refusal(errors.ALREADY_FRIENDS)
    if theirs is not None and theirs.type == _Type.BLOCKED:
        raise Refusal(errors.FRIEND_REQUEST_BLOCKED)
    if accepts_only and own_type is not _Type.INCOMING_REQUEST:
        raise Refusal(errors.NO_INCOMING_FRIEND_REQUEST)
    if own_type is _Type.OUTGOING_REQUEST:
        return
    if await queries.count_relationships(ctx.tx, caller_id, _Type.FRIEND, _Type.OUTGOING_REQUEST) >= limits.FRIENDS_MAX:
        raise Refusal(errors.TOO_MANY_FRIENDS)
    if own_type is _Type.INCOMING_REQUEST:
        await _store_pair(ctx, other.id, (own, _Type.FRIEND), (theirs, _Type.FRIEND))
        await FRIENDS_MADE(ctx, other.id)
        return
    stranger = await _require_accepts_requests(ctx, other.id)
    if stranger:
        count_stranger(ctx, errors.RESOURCE_RATE_LIMITED)
    await _store_pair(
        ctx,
        other.id,
        (own, _Type.OUTGOING_REQUEST),
        (theirs, _Type.INCOMING_REQUEST),
        note=note or None,
        stranger=stranger,
    )


async def make_friends(ctx: Context, other: UserRow) -> bool:
    """Make the caller a friend of a user who has invited them; False, without a change, if they are friends.

    A user whom the caller has blocked is unblocked. Raises Refusal: 400/80003 for the caller, 80001 for a user who has
    blocked the caller, 30002 if either has `FRIENDS_MAX` friends.
    """
    if other.id == ctx.actor.user_id:
        raise Refusal(errors.FRIEND_REQUEST_TO_SELF)
    own, theirs = await _lock_both(ctx, other.id)
    if own is not None and own.type == _Type.FRIEND:
        return False
    if theirs is not None and theirs.type == _Type.BLOCKED:
        raise Refusal(errors.FRIEND_REQUEST_BLOCKED)
    for user_id in (ctx.actor.user_id, other.id):
        if await queries.count_relationships(ctx.tx, user_id, _Type.FRIEND) >= limits.FRIENDS_MAX:
            raise Refusal(errors.TOO_MANY_FRIENDS)
    await _store_pair(ctx, other.id, (own, _Type.FRIEND), (theirs, _Type.FRIEND))
    await FRIENDS_MADE(ctx, other.id)
    return True


async def _require_accepts_requests(ctx: Context, other_id: UserId) -> bool:
    """Check that a user accepts requests of the caller; whether the two have no guild and no friend in common."""
    if await queries.count_relationships(ctx.tx, other_id, _Type.INCOMING_REQUEST) >= limits.FRIENDS_MAX:
        raise Refusal(errors.FRIEND_REQUESTS_DISABLED)
    guild, friend = await queries.select_mutual(ctx.tx, ctx.actor.user_id, other_id)
    sources = (await settings_of(ctx.tx, other_id, ctx.now)).friend_source_flags or FriendSourceFlags()
    if not (sources.all or (sources.mutual_guilds and guild) or (sources.mutual_friends and friend)):
        raise Refusal(errors.FRIEND_REQUESTS_DISABLED)
    return not guild and not friend


async def block(ctx: Context, other: UserRow) -> None:
    """Block a user, who is no longer a friend then; blocking again changes nothing.

    Raises Refusal: 400/50033 for the caller, 30002 at `BLOCKED_USERS_MAX`.
    """
    caller_id = ctx.actor.user_id
    if other.id == caller_id:
        raise Refusal(errors.INVALID_RECIPIENTS)
    own, theirs = await _lock_both(ctx, other.id)
    if own is not None and own.type == _Type.BLOCKED:
        return
    if await queries.count_relationships(ctx.tx, caller_id, _Type.BLOCKED) >= limits.BLOCKED_USERS_MAX:
        raise Refusal(errors.TOO_MANY_FRIENDS)
    await _end_for_other(ctx, theirs)
    row = _row(ctx, caller_id, other.id, _Type.BLOCKED, own)
    await queries.upsert_relationships(ctx.tx, row)
    users = await get_users(ctx.tx, [other.id])
    _announce(ctx, row, users[other.id])


async def ignore(ctx: Context, user_id: UserId) -> None:
    """Ignore a user; ignoring again changes nothing. Raises Refusal: 404/10013, 400/50033 for the caller."""
    users = await get_users(ctx.tx, [user_id])
    if user_id not in users:
        raise Refusal(errors.UNKNOWN_USER)
    if user_id == ctx.actor.user_id:
        raise Refusal(errors.INVALID_RECIPIENTS)
    own, _ = await _lock_both(ctx, user_id)
    if own is not None and own.ignored:
        return
    ignored = await queries.count_relationships(ctx.tx, ctx.actor.user_id, _Type.NONE)
    if own is None and ignored >= limits.BLOCKED_USERS_MAX:
        raise Refusal(errors.TOO_MANY_FRIENDS)
    row = structs.replace(own or _row(ctx, ctx.actor.user_id, user_id, _Type.NONE, None), ignored=True)
    await queries.upsert_relationships(ctx.tx, row)
    if own is None:
        _announce(ctx, row, users[user_id])
    else:
        ctx.emit(RelationshipUpdate(user_id=row.user_id, relationship=partial_relationship(row)))


async def stop_ignoring(ctx: Context, user_id: UserId) -> None:
    """Stop ignoring a user; without effect for one who is not ignored."""
    own, _ = await _lock_both(ctx, user_id)
    if own is None or not own.ignored:
        return
    row = structs.replace(own, ignored=False)
    if own.type == _Type.NONE:
        await queries.delete_relationship(ctx.tx, own.user_id, user_id)
        ctx.emit(RelationshipRemove(user_id=row.user_id, relationship=partial_relationship(row)))
        return
    await queries.upsert_relationships(ctx.tx, row)
    ctx.emit(RelationshipUpdate(user_id=row.user_id, relationship=partial_relationship(row)))


async def modify_relationship(ctx: Context, user_id: UserId, nickname: str | None) -> None:
    """Set or remove the nickname of a friend. Raises Refusal: 400/80006 for another user."""
    own, _ = await _lock_both(ctx, user_id)
    if own is None or own.type != _Type.FRIEND:
        raise Refusal(errors.NOT_FRIENDS)
    row = structs.replace(own, nickname=clean_name(nickname or "") or None)
    if row.nickname == own.nickname:
        return
    await queries.upsert_relationships(ctx.tx, row)
    ctx.emit(RelationshipUpdate(user_id=row.user_id, relationship=partial_relationship(row)))


async def remove_relationship(ctx: Context, user_id: UserId) -> None:
    """End a friendship, withdraw or decline a request, or unblock a user.

    Raises Refusal: 404/10013 for a user with whom the caller has no relationship.
    """
    own, theirs = await _lock_both(ctx, user_id)
    if own is None:
        raise Refusal(errors.UNKNOWN_USER)
    await queries.delete_relationship(ctx.tx, own.user_id, user_id)
    ctx.emit(RelationshipRemove(user_id=own.user_id, relationship=partial_relationship(own)))
    if own.type not in {_Type.BLOCKED, _Type.NONE}:
        await _end_for_other(ctx, theirs)


async def remove_some_relationships(ctx: Context, user_id: UserId, maximum: int) -> bool:
    """End at most `maximum` relationships of a user, friendships and requests for both sides; False if there are none.

    Only the other users are notified. Those who have blocked or ignored the user keep that.
    """
    rows = (await queries.select_relationships(ctx.tx, user_id))[:maximum]
    other_ids = [row.other_id for row in rows]
    if not rows:
        return False
    theirs = [
        row
        for row in await queries.select_theirs(ctx.tx, user_id, other_ids)
        if row.type not in {_Type.BLOCKED, _Type.NONE}
    ]
    await queries.delete_relationships(ctx.tx, user_id, other_ids, theirs=[row.user_id for row in theirs])
    for row in theirs:
        ctx.emit(RelationshipRemove(user_id=row.user_id, relationship=partial_relationship(row)))
    return True


async def decline_requests(ctx: Context, filters: Collection[int]) -> None:
    """Decline every friend request to the caller that meets all `filters`. No request is spam."""
    caller_id = ctx.actor.user_id
    await lock_user(ctx.tx, caller_id)
    rows = [
        row
        for row in await queries.select_relationships(ctx.tx, caller_id)
        if row.type == _Type.INCOMING_REQUEST
        and _SPAM_FILTER not in filters
        and (_IGNORED_FILTER not in filters or row.ignored)
    ]
    if not rows:
        return
    await queries.delete_incoming_requests(ctx.tx, caller_id, [row.other_id for row in rows])
    for row in rows:
        ctx.emit(RelationshipRemove(user_id=caller_id, relationship=partial_relationship(row)))
        outgoing = structs.replace(
            row,
            user_id=row.other_id,
            other_id=caller_id,
            type=int(_Type.OUTGOING_REQUEST),
            ignored=False,
            stranger=False,
        )
        ctx.emit(RelationshipRemove(user_id=row.other_id, relationship=partial_relationship(outgoing)))


async def _lock_both(ctx: Context, other_id: UserId) -> tuple[RelationshipRow | None, RelationshipRow | None]:
    """Lock the caller and another user, and read what each is to the other."""
    # In the order of their ids, so that two users who befriend each other at once cannot deadlock.
    for user_id in sorted({ctx.actor.user_id, other_id}):
        await lock_user(ctx.tx, user_id)
    return (
        await queries.select_relationship(ctx.tx, ctx.actor.user_id, other_id),
        await queries.select_relationship(ctx.tx, other_id, ctx.actor.user_id),
    )


async def _store_pair(
    ctx: Context,
    other_id: UserId,
    own: tuple[RelationshipRow | None, RelationshipType],
    theirs: tuple[RelationshipRow | None, RelationshipType],
    *,
    note: str | None = None,
    stranger: bool = False,
) -> None:
    """Store a friendship or friend request for both users, and announce it to both."""
    caller_id = ctx.actor.user_id
    own_row = structs.replace(_row(ctx, caller_id, other_id, own[1], own[0]), note=note)
    their_row = _row(ctx, other_id, caller_id, theirs[1], theirs[0])
    their_row = structs.replace(their_row, note=note, stranger=stranger)
    await queries.upsert_relationships(ctx.tx, own_row, their_row)
    users = await get_users(ctx.tx, [caller_id, other_id])
    _announce(ctx, own_row, users[other_id])
    _announce(ctx, their_row, users[caller_id], notifies=not their_row.ignored)


async def _end_for_other(ctx: Context, theirs: RelationshipRow | None) -> None:
    """Remove the friendship or request of the other user; what the user blocks or ignores stays."""
    if theirs is None or theirs.type in {_Type.BLOCKED, _Type.NONE}:
        return
    if theirs.ignored:
        kept = structs.replace(theirs, type=int(_Type.NONE), nickname=None, note=None, stranger=False)
        await queries.upsert_relationships(ctx.tx, kept)
    else:
        await queries.delete_relationship(ctx.tx, theirs.user_id, theirs.other_id)
    ctx.emit(RelationshipRemove(user_id=theirs.user_id, relationship=partial_relationship(theirs)))


def _row(
    ctx: Context, user_id: UserId, other_id: UserId, kind: RelationshipType, earlier: RelationshipRow | None
) -> RelationshipRow:
    """A new relationship, which keeps whether the other user is ignored."""
    return RelationshipRow(
        user_id=user_id,
        other_id=other_id,
        type=int(kind),
        nickname=None,
        ignored=earlier is not None and earlier.ignored,
        stranger=False,
        note=None,
        since=ctx.now,
    )


def _announce(ctx: Context, row: RelationshipRow, user: User, *, notifies: bool = False) -> None:
    added = AddedRelationship(
        user=user,
        note=UNSET if row.note is None else row.note,
        should_notify=True if notifies else UNSET,
        **fields_of(row),
    )
    ctx.emit(RelationshipAdd(user_id=row.user_id, relationship=added))
