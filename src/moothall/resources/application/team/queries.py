"""The SQL of teams and of who belongs to them."""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct
from sqlalchemy import bindparam, delete, func, insert, select, update

from moothall.objects.application import MembershipState
from moothall.objects.ids import TeamId, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list, update_columns
from moothall.storage.schema import applications, team_members, teams


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


_own = (team_members.c.team_id == bindparam("team_id")) & (team_members.c.user_id == bindparam("user_id"))
_accepted = team_members.c.membership_state == int(MembershipState.ACCEPTED)

_select_team = Query(select(teams).where(teams.c.id == bindparam("team_id")), into=TeamRow)
_lock_team = Query(select(teams).where(teams.c.id == bindparam("team_id")).with_for_update(), into=TeamRow)
_select_teams = Query(select(teams).where(in_list(teams.c.id, "team_ids")), into=TeamRow)
_select_of_user = Query(
    select(teams)
    .join(team_members, team_members.c.team_id == teams.c.id)
    .where(team_members.c.user_id == bindparam("user_id"))
    .order_by(teams.c.id),
    into=TeamRow,
)
_select_member = Query(select(team_members).where(_own), into=TeamMemberRow)
_select_members = Query(
    select(team_members)
    .where(in_list(team_members.c.team_id, "team_ids"))
    .order_by(team_members.c.team_id, team_members.c.created_at, team_members.c.user_id),
    into=TeamMemberRow,
)
_select_accepted = Query(
    select(team_members.c.team_id).where(team_members.c.user_id == bindparam("user_id"), _accepted)
)
_count_members = Query(select(func.count()).where(team_members.c.team_id == bindparam("team_id")))
_count_of_user = Query(select(func.count()).where(team_members.c.user_id == bindparam("user_id"), _accepted))
_count_applications = Query(select(func.count()).where(applications.c.team_id == bindparam("team_id")))
_insert_team = Query(insert(teams))
_insert_member = Query(insert(team_members))
_delete_member = Query(delete(team_members).where(_own))
_delete_members = Query(delete(team_members).where(team_members.c.team_id == bindparam("team_id")))
_delete_team = Query(delete(teams).where(teams.c.id == bindparam("team_id")))
_give_applications = Query(
    update(applications).where(applications.c.team_id == bindparam("of_team")).values(owner_id=bindparam("new_owner"))
)


async def select_team(reader: Reader, team_id: TeamId) -> TeamRow | None:
    """One team; None if there is none."""
    return await reader.one(_select_team, team_id=team_id)


async def lock_team(tx: Transaction, team_id: TeamId) -> TeamRow | None:
    """One team, which others may lock only when this transaction is over."""
    return await tx.one(_lock_team, team_id=team_id)


async def select_teams(reader: Reader, team_ids: Iterable[TeamId]) -> list[TeamRow]:
    """Teams by id, in one query; ids that name none are left out."""
    wanted = list(set(team_ids))
    return await reader.all(_select_teams, team_ids=wanted) if wanted else []


async def select_of_user(reader: Reader, user_id: UserId) -> list[TeamRow]:
    """The teams that someone belongs to or is invited to, oldest first."""
    return await reader.all(_select_of_user, user_id=user_id)


async def select_accepted(reader: Reader, user_id: UserId) -> list[TeamId]:
    """The teams that someone belongs to."""
    return [TeamId(row[0]) for row in await reader.all(_select_accepted, user_id=user_id)]


async def select_member(reader: Reader, team_id: TeamId, user_id: UserId) -> TeamMemberRow | None:
    """Someone's place in a team; None for who is not even invited."""
    return await reader.one(_select_member, team_id=team_id, user_id=user_id)


async def select_members(reader: Reader, team_ids: Iterable[TeamId]) -> list[TeamMemberRow]:
    """Who belongs to some teams, in one query: those invited too."""
    wanted = list(set(team_ids))
    return await reader.all(_select_members, team_ids=wanted) if wanted else []


async def count_members(reader: Reader, team_id: TeamId) -> int:
    """How many belong to a team or are invited to it."""
    return int(await reader.scalar(_count_members, team_id=team_id))


async def count_of_user(reader: Reader, user_id: UserId) -> int:
    """How many teams someone belongs to."""
    return int(await reader.scalar(_count_of_user, user_id=user_id))


async def count_applications(reader: Reader, team_id: TeamId) -> int:
    """How many applications a team owns."""
    return int(await reader.scalar(_count_applications, team_id=team_id))


async def insert_team(tx: Transaction, row: TeamRow) -> None:
    """Store a new team."""
    await tx.execute(_insert_team, **{name: getattr(row, name) for name in row.__struct_fields__})


async def update_team(tx: Transaction, team_id: TeamId, **columns: Any) -> None:
    """Change the columns named."""
    await tx.execute(update_columns(teams, key=("id",), columns=frozenset(columns)), id=team_id, **columns)


async def delete_team(tx: Transaction, team_id: TeamId) -> None:
    """Forget a team and who belonged to it."""
    await tx.execute(_delete_members, team_id=team_id)
    await tx.execute(_delete_team, team_id=team_id)


async def insert_member(tx: Transaction, row: TeamMemberRow) -> None:
    """Store that someone is invited or belongs."""
    await tx.execute(_insert_member, **{name: getattr(row, name) for name in row.__struct_fields__})


async def update_member(tx: Transaction, team_id: TeamId, user_id: UserId, **columns: Any) -> None:
    """Change the columns named."""
    query = update_columns(team_members, key=("team_id", "user_id"), columns=frozenset(columns))
    await tx.execute(query, team_id=team_id, user_id=user_id, **columns)


async def delete_member(tx: Transaction, team_id: TeamId, user_id: UserId) -> bool:
    """Let someone belong no more; False if they did not."""
    return await tx.execute(_delete_member, team_id=team_id, user_id=user_id) == 1


async def give_applications(tx: Transaction, team_id: TeamId, owner_id: UserId) -> None:
    """Let the applications of a team answer to its new owner."""
    await tx.execute(_give_applications, of_team=team_id, new_owner=owner_id)
