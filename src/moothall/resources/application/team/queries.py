"""SQL of teams and their members."""

from collections.abc import Iterable

from msgspec import Struct

from moothall.objects.application import MembershipState
from moothall.objects.ids import TeamId, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list, update_columns
from moothall.storage.sql import bindparam, delete, func, insert, select, update
from moothall.storage.tables import applications, team_members, teams


class TeamRow(Struct):
    """A row of `teams`."""

    id: TeamId
    name: str
    icon: str | None
    owner_user_id: UserId
    created_at: Timestamp


class TeamMemberRow(Struct):
    """A row of `team_members`."""

    team_id: TeamId
    user_id: UserId
    membership_state: int
    role: str
    created_at: Timestamp


_of_member = (team_members.c.team_id == bindparam("team_id")) & (team_members.c.user_id == bindparam("user_id"))
_accepted = team_members.c.membership_state == int(MembershipState.ACCEPTED)

_select_team = Query(lambda: select(teams).where(teams.c.id == bindparam("team_id")), into=TeamRow)
_lock_team = Query(lambda: select(teams).where(teams.c.id == bindparam("team_id")).with_for_update(), into=TeamRow)
_select_teams = Query(lambda: select(teams).where(in_list(teams.c.id, "team_ids")), into=TeamRow)
_select_teams_of_user = Query(
    lambda: (
        select(teams)
        .join(team_members, team_members.c.team_id == teams.c.id)
        .where(team_members.c.user_id == bindparam("user_id"))
        .order_by(teams.c.id)
    ),
    into=TeamRow,
)
_select_member = Query(lambda: select(team_members).where(_of_member), into=TeamMemberRow)
_select_members = Query(
    lambda: (
        select(team_members)
        .where(in_list(team_members.c.team_id, "team_ids"))
        .order_by(team_members.c.team_id, team_members.c.created_at, team_members.c.user_id)
    ),
    into=TeamMemberRow,
)
_select_joined_team_ids = Query(
    lambda: select(team_members.c.team_id).where(team_members.c.user_id == bindparam("user_id"), _accepted)
)
_count_members = Query(lambda: select(func.count()).where(team_members.c.team_id == bindparam("team_id")))
_count_teams_of_user = Query(
    lambda: select(func.count()).where(team_members.c.user_id == bindparam("user_id"), _accepted)
)
_count_applications = Query(lambda: select(func.count()).where(applications.c.team_id == bindparam("team_id")))
_insert_team = Query(lambda: insert(teams))
_insert_member = Query(lambda: insert(team_members))
_delete_member = Query(lambda: delete(team_members).where(_of_member))
_delete_members = Query(lambda: delete(team_members).where(team_members.c.team_id == bindparam("team_id")))
_delete_team = Query(lambda: delete(teams).where(teams.c.id == bindparam("team_id")))
_update_applications_owner = Query(
    lambda: (
        update(applications)
        .where(applications.c.team_id == bindparam("of_team"))
        .values(owner_id=bindparam("new_owner"))
    )
)


async def select_team(reader: Reader, team_id: TeamId) -> TeamRow | None:
    """Read one team; None for an unknown id."""
    return await reader.one(_select_team, team_id=team_id)


async def lock_team(tx: Transaction, team_id: TeamId) -> TeamRow | None:
    """Read one team and lock its row until the transaction ends; None for an unknown id."""
    return await tx.one(_lock_team, team_id=team_id)


async def select_teams(reader: Reader, team_ids: Iterable[TeamId]) -> list[TeamRow]:
    """Read teams; unknown ids are left out."""
    unique_ids = list(set(team_ids))
    return await reader.all(_select_teams, team_ids=unique_ids) if unique_ids else []


async def select_teams_of_user(reader: Reader, user_id: UserId) -> list[TeamRow]:
    """Read the teams that a user has joined or is invited to by ascending id."""
    return await reader.all(_select_teams_of_user, user_id=user_id)


async def select_joined_team_ids(reader: Reader, user_id: UserId) -> list[TeamId]:
    """Read the ids of the teams that a user has joined."""
    return [TeamId(row[0]) for row in await reader.all(_select_joined_team_ids, user_id=user_id)]


async def select_member(reader: Reader, team_id: TeamId, user_id: UserId) -> TeamMemberRow | None:
    """Read a member or invited user of a team; None for any other user."""
    return await reader.one(_select_member, team_id=team_id, user_id=user_id)


async def select_members(reader: Reader, team_ids: Iterable[TeamId]) -> list[TeamMemberRow]:
    """Read the members and invited users of teams, in the order in which they were added."""
    unique_ids = list(set(team_ids))
    return await reader.all(_select_members, team_ids=unique_ids) if unique_ids else []


async def count_members(reader: Reader, team_id: TeamId) -> int:
    """Count the members and invited users of a team."""
    return int(await reader.scalar(_count_members, team_id=team_id))


async def count_teams_of_user(reader: Reader, user_id: UserId) -> int:
    """Count the teams that a user has joined."""
    return int(await reader.scalar(_count_teams_of_user, user_id=user_id))


async def count_applications(reader: Reader, team_id: TeamId) -> int:
    """Count the applications of a team."""
    return int(await reader.scalar(_count_applications, team_id=team_id))


async def insert_team(tx: Transaction, row: TeamRow) -> None:
    """Store a new team."""
    await tx.execute(_insert_team, **{name: getattr(row, name) for name in row.__struct_fields__})


async def update_team(tx: Transaction, team_id: TeamId, **columns: object) -> None:
    """Update columns of a team."""
    await tx.execute(update_columns(teams, key=("id",), columns=frozenset(columns)), id=team_id, **columns)


async def delete_team(tx: Transaction, team_id: TeamId) -> None:
    """Delete a team and its members."""
    await tx.execute(_delete_members, team_id=team_id)
    await tx.execute(_delete_team, team_id=team_id)


async def insert_member(tx: Transaction, row: TeamMemberRow) -> None:
    """Store a member or invited user."""
    await tx.execute(_insert_member, **{name: getattr(row, name) for name in row.__struct_fields__})


async def update_member(tx: Transaction, team_id: TeamId, user_id: UserId, **columns: object) -> None:
    """Update columns of a member."""
    query = update_columns(team_members, key=("team_id", "user_id"), columns=frozenset(columns))
    await tx.execute(query, team_id=team_id, user_id=user_id, **columns)


async def delete_member(tx: Transaction, team_id: TeamId, user_id: UserId) -> bool:
    """Delete a member or invited user; False if there was none."""
    return await tx.execute(_delete_member, team_id=team_id, user_id=user_id) == 1


async def update_applications_owner(tx: Transaction, team_id: TeamId, owner_id: UserId) -> None:
    """Set the owner of all applications of a team."""
    await tx.execute(_update_applications_owner, of_team=team_id, new_owner=owner_id)
