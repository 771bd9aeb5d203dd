"""Queries on both engines: compilation, parameters, and conversion of values."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct

from moothall.objects.ids import GuildId, RoleId, Snowflake, UserId
from moothall.objects.permissions import PermissionSet
from moothall.objects.wire import Timestamp
from moothall.storage.database import (
    ConstraintFailed,
    Database,
    Query,
    StorageError,
    has_prefix,
    in_list,
    insert_ignore,
    update_columns,
    upsert,
)
from moothall.storage.sql import bindparam, delete, func, insert, select, update
from moothall.storage.tables import bans, channel_activity, members, outbox, reaction_counts, roles, tokens


class RoleLine(Struct):
    """Some columns of a role."""

    guild_id: GuildId
    id: RoleId
    name: str
    hoist: bool
    permissions: PermissionSet
    tags: dict[str, Any] | None


class MemberLine(Struct):
    """Some columns of a member."""

    user_id: UserId
    roles: list[RoleId]
    joined_at: Timestamp
    premium_since: Timestamp | None


ROLE_COLUMNS = (roles.c.guild_id, roles.c.id, roles.c.name, roles.c.hoist, roles.c.permissions, roles.c.tags)
INSERT_ROLE = Query(insert(roles))
SELECT_ROLES = Query(
    select(*ROLE_COLUMNS).where(roles.c.guild_id == bindparam("guild_id")).order_by(roles.c.id), RoleLine
)
SELECT_RAW = Query(select(roles.c.id, roles.c.name).where(roles.c.guild_id == bindparam("guild_id")))
SELECT_LISTED = Query(select(roles.c.id).where(in_list(roles.c.id, "ids")).order_by(roles.c.id))
COUNT_OTHERS = Query(select(func.count()).select_from(roles).where(~in_list(roles.c.id, "ids"), roles.c.hoist))
INSERT_MEMBER = Query(insert(members))
SELECT_MEMBERS = Query(
    select(members.c.user_id, members.c.roles, members.c.joined_at, members.c.premium_since).where(
        members.c.guild_id == 1
    ),
    MemberLine,
)
SEARCH = Query(
    select(members.c.user_id)
    .where(members.c.guild_id == bindparam("guild_id"), has_prefix(members.c.username_key, "prefix"))
    .order_by(members.c.username_key)
    .limit(bindparam("limit"))
)

INT64 = st.integers(-(2**63), 2**63 - 1)
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
JSON = st.recursive(
    st.none() | st.booleans() | INT64 | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
ONE_DATABASE = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@given(
    role_id=st.integers(0, 2**63 - 1),
    name=TEXT,
    hoist=st.booleans(),
    permissions=st.integers(0, 2**63 - 1),
    tags=st.none() | st.dictionaries(TEXT, JSON, max_size=3),
)
@ONE_DATABASE
async def test_a_row_comes_back_as_it_went_in(
    database: Database, role_id: int, name: str, hoist: bool, permissions: int, tags: dict[str, Any] | None
) -> None:
    async with database.transaction() as tx:
        await tx.execute(Query(delete(roles)))
        await tx.execute(
            INSERT_ROLE, guild_id=1, id=role_id, name=name, hoist=hoist, permissions=permissions, tags=tags
        )
    async with database.read() as reader:
        row = await reader.one(SELECT_ROLES, guild_id=1)
    assert row == RoleLine(1, role_id, name, hoist, permissions, tags)  # type: ignore[arg-type]
    assert (type(row.id), type(row.hoist), type(row.permissions)) == (Snowflake, bool, PermissionSet)


def test_a_statement_is_built_when_its_query_is_compiled() -> None:
    built = []

    def build() -> Any:
        built.append(1)
        return select(bans.c.user_id)

    query = Query(build)
    assert not built
    assert query.plan("sqlite") is query.plan("sqlite")
    assert len(built) == 1


async def test_ids_and_moments_in_rows_are_wire_scalars(database: Database) -> None:
    async with database.transaction() as tx:
        await tx.execute(
            INSERT_MEMBER, guild_id=1, user_id=2, username_key="bob", roles=[Snowflake(2**62), 5], joined_at=7
        )
    async with database.read() as reader:
        row = await reader.one(SELECT_MEMBERS)
    assert row == MemberLine(UserId(Snowflake(2)), [Snowflake(2**62), Snowflake(5)], Timestamp(7), None)  # type: ignore[list-item]
    assert {type(role) for role in row.roles} == {Snowflake}
    assert type(row.joined_at) is Timestamp


async def test_without_a_struct_rows_are_tuples(database: Database) -> None:
    async with database.transaction() as tx:
        await tx.execute(INSERT_ROLE, guild_id=1, id=2, name="crew")
        assert await tx.all(SELECT_RAW, guild_id=1) == [(2, "crew")]
        assert await tx.one(SELECT_RAW, guild_id=9) is None


async def test_scalar_converts_the_first_column(database: Database) -> None:
    async with database.transaction() as tx:
        await tx.execute(INSERT_ROLE, guild_id=1, id=2, name="crew", hoist=True)
        hoist = await tx.scalar(Query(select(roles.c.hoist)))
        permissions = await tx.scalar(Query(select(roles.c.permissions)))
        assert await tx.scalar(Query(select(roles.c.hoist).where(roles.c.id == 9))) is None
    assert hoist is True
    assert type(permissions) is PermissionSet


async def test_an_insert_takes_defaults_for_what_is_left_out(database: Database) -> None:
    async with database.transaction() as tx:
        await tx.execute(INSERT_ROLE, guild_id=1, id=2, name="crew")
        assert await tx.one(SELECT_ROLES, guild_id=1) == RoleLine(1, 2, "crew", False, PermissionSet(0), None)  # type: ignore[arg-type]


async def test_a_numbered_table_numbers_its_rows_itself(database: Database) -> None:
    append = Query(insert(outbox).returning(outbox.c.id))
    async with database.transaction() as tx:
        first = await tx.scalar(append, node="a", envelope=b"\x00\xff", created_at=1)
        assert await tx.scalar(append, node="a", envelope=b"", created_at=1) > first
        assert await tx.scalar(Query(select(outbox.c.envelope).order_by(outbox.c.id))) == b"\x00\xff"


async def test_parameters_that_do_not_fit_are_refused_by_name(database: Database) -> None:
    async with database.read() as reader:
        with pytest.raises(TypeError, match="missing guild_id"):
            await reader.all(SELECT_ROLES)
        with pytest.raises(TypeError, match="missing guild_id, unknown guild"):
            await reader.all(SELECT_ROLES, guild=1)
        with pytest.raises(TypeError, match="unknown extra"):
            await reader.all(SELECT_ROLES, guild_id=1, extra=2)
        with pytest.raises(TypeError, match="takes no parameters, got extra"):
            await reader.all(SELECT_MEMBERS_ALL, extra=2)
    async with database.transaction() as tx:
        with pytest.raises(TypeError, match="missing name, unknown colour"):
            await tx.execute(INSERT_ROLE, guild_id=1, id=2, colour=3)


SELECT_MEMBERS_ALL = Query(select(members.c.user_id).order_by(members.c.user_id))


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_a_struct_must_have_the_selected_columns_in_order(dialect: str) -> None:
    query = Query(select(roles.c.id, roles.c.guild_id), RoleLine)
    with pytest.raises(TypeError, match="RoleLine has the fields"):
        query.plan(dialect)


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_a_query_is_compiled_once(dialect: str) -> None:
    query = Query(select(roles.c.id))
    assert query.plan(dialect) is query.plan(dialect)


@given(ids=st.lists(st.integers(0, 2**63 - 1), max_size=50), extra=st.lists(st.integers(0, 2**63 - 1), max_size=5))
@ONE_DATABASE
async def test_a_list_parameter_selects_exactly_its_items(database: Database, ids: list[int], extra: list[int]) -> None:
    stored = {*ids, *extra}
    async with database.transaction() as tx:
        await tx.execute(Query(delete(roles)))
        await tx.execute_many(INSERT_ROLE, [{"guild_id": 1, "id": item, "name": "x", "hoist": True} for item in stored])
        assert await tx.all(SELECT_LISTED, ids=[Snowflake(item) for item in ids]) == [(i,) for i in sorted(set(ids))]
        assert await tx.scalar(COUNT_OTHERS, ids=ids) == len(stored - set(ids))


async def test_a_list_parameter_may_hold_texts(database: Database) -> None:
    listed = Query(select(members.c.user_id).where(in_list(members.c.username_key, "names")))
    async with database.transaction() as tx:
        await tx.execute(INSERT_MEMBER, guild_id=1, user_id=2, username_key='o"brien', joined_at=1)
        assert await tx.all(listed, names=['o"brien', "carol"]) == [(2,)]


async def test_a_list_of_constants_is_written_out(database: Database) -> None:
    query = Query(select(roles.c.id).where(roles.c.id.in_([2, 3]), roles.c.guild_id == bindparam("guild_id")))
    async with database.transaction() as tx:
        for role_id in (1, 2, 3):
            await tx.execute(INSERT_ROLE, guild_id=1, id=role_id, name="crew")
        assert sorted(await tx.all(query, guild_id=1)) == [(2,), (3,)]


async def test_a_list_parameter_uses_the_index(database: Database) -> None:
    if database.dialect == "sqlite":
        query = Query(select(members.c.nick).where(members.c.guild_id == 1, in_list(members.c.user_id, "ids")))
        text = query.plan("sqlite").text.replace("?", "1", 1)
        rows = database._connection.execute(f"EXPLAIN QUERY PLAN {text}", ("[]",)).fetchall()  # type: ignore[attr-defined]
        assert "SEARCH members USING PRIMARY KEY (guild_id=? AND user_id=?)" in [row[3] for row in rows]


@given(names=st.lists(TEXT, max_size=8, unique=True), prefix=st.text(st.sampled_from("ab%_\\Zé\U0001f600"), max_size=2))
@ONE_DATABASE
async def test_a_prefix_is_literal_and_sorted_by_code_point(database: Database, names: list[str], prefix: str) -> None:
    stored = {*names, prefix, prefix + "a", prefix + "Z", prefix + "\U0001f600", "ab%", "a_"}
    async with database.transaction() as tx:
        await tx.execute(Query(delete(members)))
        for number, name in enumerate(sorted(stored)):
            await tx.execute(INSERT_MEMBER, guild_id=1, user_id=number, username_key=name, joined_at=1)
        rows = await tx.all(SEARCH, guild_id=1, prefix=prefix, limit=1000)
    assert [sorted(stored)[number] for (number,) in rows] == sorted(n for n in stored if n.startswith(prefix))


async def test_an_upsert_inserts_and_then_updates(database: Database) -> None:
    rename = Query(upsert(roles, key=("guild_id", "id"), update=("name",)))
    async with database.transaction() as tx:
        assert await tx.execute(rename, guild_id=1, id=2, name="old", hoist=True) == 1
        assert await tx.execute(rename, guild_id=1, id=2, name="new", hoist=False) == 1
        assert await tx.all(SELECT_ROLES, guild_id=1) == [RoleLine(1, 2, "new", True, PermissionSet(0), None)]  # type: ignore[arg-type]


async def test_an_upsert_can_increment_a_column_and_return_it(database: Database) -> None:
    count = Query(
        upsert(
            reaction_counts,
            key=("channel_id", "message_id", "emoji"),
            update={"count": reaction_counts.c.count + 1},
            returning=[reaction_counts.c.count],
        )
    )
    values: dict[str, Any] = {"channel_id": 1, "message_id": 2, "emoji": "🍏", "count": 1, "first_at": 3}
    async with database.transaction() as tx:
        assert [await tx.scalar(count, **values) for _ in range(3)] == [1, 2, 3]


async def test_an_ignored_insert_changes_nothing(database: Database) -> None:
    ban = Query(insert_ignore(bans, key=("guild_id", "user_id")))
    async with database.transaction() as tx:
        assert await tx.execute(ban, guild_id=1, user_id=2, reason="first", created_at=1) == 1
        assert await tx.execute(ban, guild_id=1, user_id=2, reason="second", created_at=1) == 0
        assert await tx.scalar(Query(select(bans.c.reason))) == "first"


async def test_an_update_returns_how_many_rows_it_changed(database: Database) -> None:
    async with database.transaction() as tx:
        for role_id in range(3):
            await tx.execute(INSERT_ROLE, guild_id=1, id=role_id, name="crew")
        hoist = Query(update(roles).where(roles.c.id > bindparam("least")).values(hoist=True))
        assert await tx.execute(hoist, least=0) == 2
        assert await tx.execute(hoist, least=9) == 0
        assert await tx.execute(Query(delete(roles))) == 3


async def test_an_update_of_named_columns_leaves_the_others(database: Database) -> None:
    key = ("guild_id", "id")
    async with database.transaction() as tx:
        await tx.execute(INSERT_ROLE, guild_id=1, id=2, name="crew", hoist=True)
        change = update_columns(roles, key=key, columns=frozenset({"name", "tags"}))
        assert await tx.execute(change, guild_id=1, id=2, name="staff", tags={"bot_id": "5"}) == 1
        row = await tx.one(SELECT_ROLES, guild_id=1)
    assert row == RoleLine(1, 2, "staff", True, PermissionSet(0), {"bot_id": "5"})  # type: ignore[arg-type]
    assert update_columns(roles, key=key, columns=frozenset({"tags", "name"})) is change


async def test_a_rising_column_keeps_the_greatest_value(database: Database) -> None:
    rise = Query(upsert(channel_activity, key=("channel_id",), rising=("last_message_id",)))
    seen = []
    for value in (5, 3, 7):
        async with database.transaction() as tx:
            await tx.execute(rise, channel_id=1, last_message_id=value)
            seen.append(await tx.scalar(Query(select(channel_activity.c.last_message_id))))
    assert seen == [5, 5, 7]


async def test_a_number_of_more_than_64_bits_is_an_error_and_not_another_number(database: Database) -> None:
    with pytest.raises(StorageError):
        async with database.transaction() as tx:
            await tx.execute(INSERT_ROLE, guild_id=1, id=2**63, name="crew")
    async with database.read() as reader:
        assert await reader.all(SELECT_ROLES, guild_id=1) == []


async def test_a_taken_key_is_a_failed_constraint(database: Database) -> None:
    add = Query(insert(tokens))
    values: dict[str, Any] = {"hash": b"h", "kind": 1, "user_id": 2, "created_at": 3}
    async with database.transaction() as tx:
        await tx.execute(add, **values)
    with pytest.raises(ConstraintFailed):
        async with database.transaction() as tx:
            await tx.execute(add, **values)
