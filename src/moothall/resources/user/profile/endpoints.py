"""Profiles of users over HTTP (resources: user, get user profile)."""

from msgspec import UNSET, structs

from moothall.api.access import PERSON
from moothall.api.context import Context
from moothall.api.endpoint import get
from moothall.objects import errors
from moothall.objects.connection import ConnectionVisibility, PublicConnection
from moothall.objects.errors import Refusal
from moothall.objects.ids import UserId
from moothall.objects.profile import MutualGuild, ProfileUser, UserProfile
from moothall.objects.relationship import RelationshipType
from moothall.resources.user.connection.queries import select_connections
from moothall.resources.user.objects import profile_metadata
from moothall.resources.user.profile import queries
from moothall.resources.user.queries import select_user
from moothall.resources.user.relationship.queries import has_blocked, select_relationship
from moothall.storage.rows import UserRow, user_from_row

_KNOWN = {int(RelationshipType.FRIEND), int(RelationshipType.INCOMING_REQUEST), int(RelationshipType.OUTGOING_REQUEST)}


@get("/users/{user_id}/profile", permission=PERSON)
async def get_user_profile(
    ctx: Context,
    user_id: UserId,
    *,
    with_mutual_guilds: bool = True,
    with_mutual_friends: bool = False,
    with_mutual_friends_count: bool = False,
) -> UserProfile:
    """Get the profile of a bot, or of a user who shares a guild or a friendship (or a request of one) with the caller.

    Other users are 403/50001.
    """
    caller_id = ctx.actor.user_id
    row = await select_user(ctx.tx, user_id)
    if row is None or row.deleted:
        raise Refusal(errors.UNKNOWN_USER)
    guilds = await queries.select_mutual_guilds(ctx.tx, caller_id, user_id)
    await _require_known(ctx, row, guilds)
    accounts = await select_connections(ctx.tx, user_id)
    blocked = await has_blocked(ctx.tx, user_id, caller_id)
    profile = UserProfile(
        user=ProfileUser(**structs.asdict(user_from_row(row)), bio="" if blocked else row.bio),
        connected_accounts=[
            PublicConnection(id=each.id, name=each.name, type=each.type, verified=each.verified)
            for each in accounts
            if each.visibility == ConnectionVisibility.EVERYONE and not blocked
        ],
    )
    if blocked:
        return profile
    friends = await queries.select_mutual_friends(ctx.tx, caller_id, user_id) if with_mutual_friends else []
    count = len(friends)
    if with_mutual_friends_count and not with_mutual_friends:
        count = await queries.count_mutual_friends(ctx.tx, caller_id, user_id)
    return structs.replace(
        profile,
        user_profile=profile_metadata(row),
        badges=[],
        guild_badges=[],
        mutual_guilds=guilds if with_mutual_guilds else UNSET,
        mutual_friends=friends if with_mutual_friends else UNSET,
        mutual_friends_count=count if with_mutual_friends_count else UNSET,
    )


async def _require_known(ctx: Context, row: UserRow, guilds: list[MutualGuild]) -> None:
    """Refuse (403/50001) the profiles of users who have nothing to do with the caller."""
    if row.bot or guilds or row.id == ctx.actor.user_id:
        return
    relationship = await select_relationship(ctx.tx, ctx.actor.user_id, row.id)
    if relationship is None or relationship.type not in _KNOWN:
        raise Refusal(errors.MISSING_ACCESS)
