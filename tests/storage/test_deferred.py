"""Recorded expressions: what they evaluate to, and which of them have the same description."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moothall.objects.ids import GuildId, UserId
from moothall.storage.sql import SnowflakeColumn, and_, bindparam, func, insert_ignore, or_, select, upsert
from moothall.storage.statements.compilation import compile_statement
from moothall.storage.statements.deferred import Deferred, NotDescribable, deferred_name, describe, evaluate
from moothall.storage.tables import bans, members, messages, roles


def recorded(expression: Any) -> Deferred:
    """The same expression, which the type checker takes for a real one."""
    assert isinstance(expression, Deferred)
    return expression


def text(expression: Any, dialect: str = "sqlite") -> str:
    return " ".join(compile_statement(expression, dialect, cacheable=False).text.split())


def test_an_expression_is_evaluated_with_the_real_objects() -> None:
    of_guild = bans.c.guild_id == bindparam("guild_id")
    statement = select(bans.c.user_id).where(of_guild, ~(bans.c.reason == "spam")).order_by(bans.c.user_id.desc())
    assert text(statement) == (
        "SELECT bans.user_id FROM bans WHERE bans.guild_id = ? AND bans.reason != ? ORDER BY bans.user_id DESC"
    )


def test_an_alias_that_is_used_twice_is_one_alias() -> None:
    others = members.alias()
    statement = select(members.c.user_id).where(
        members.c.guild_id == others.c.guild_id, others.c.user_id == bindparam("user_id")
    )
    assert text(statement).count("members AS members_1") == 1


def test_two_aliases_are_described_differently_from_one_that_is_used_twice() -> None:
    def joined(first: Any, second: Any) -> Deferred:
        return recorded(select(first.c.user_id).select_from(first.join(second, first.c.guild_id == second.c.guild_id)))

    one = members.alias()
    assert describe(joined(one, one)) != describe(joined(members.alias(), members.alias()))
    assert describe(joined(members.alias(), members.alias())) == describe(joined(members.alias(), members.alias()))


def test_the_description_does_not_depend_on_the_order_of_evaluation() -> None:
    statement = recorded(select(roles).where(roles.c.guild_id == bindparam("guild_id")))
    before = describe(statement)
    evaluate(statement)
    assert describe(statement) == before


CONDITIONS = st.recursive(
    st.tuples(
        st.sampled_from(["guild_id", "user_id", "reason"]),
        st.sampled_from(["==", "!=", "<", ">="]),
        st.one_of(st.integers(-3, 3), st.sampled_from(["a", "b", "1"]), st.booleans(), st.none()),
    ),
    lambda inner: st.tuples(st.sampled_from(["and", "or", "not"]), inner, inner),
    max_leaves=6,
)


def condition(described: tuple[Any, Any, Any]) -> Any:
    first, second, third = described
    if first == "not":
        return ~and_(condition(second), condition(third))
    if first in {"and", "or"}:
        return (and_ if first == "and" else or_)(condition(second), condition(third))
    column, operation = bans.c[first], {"==": "__eq__", "!=": "__ne__", "<": "__lt__", ">=": "__ge__"}[second]
    if third is None or isinstance(third, bool):
        return column.is_(third) if second == "==" else column.is_not(third)
    return getattr(type(column), operation)(column, third)


@given(CONDITIONS, CONDITIONS)
def test_statements_of_the_same_description_compile_to_the_same(first: Any, second: Any) -> None:
    one, other = (recorded(select(bans.c.user_id).where(condition(each))) for each in (first, second))
    if describe(one) == describe(other):
        assert compile_statement(one, "sqlite", cacheable=False) == compile_statement(other, "sqlite", cacheable=False)
    else:
        assert repr(first) != repr(second)


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_functions_of_ours_are_recorded_like_those_of_sqlalchemy(dialect: str) -> None:
    key = ("guild_id", "user_id")
    assert text(insert_ignore(bans, key=key), dialect).endswith("ON CONFLICT (guild_id, user_id) DO NOTHING")
    changed = text(upsert(bans, key=key, update=("reason",)), dialect)
    assert changed.endswith("ON CONFLICT (guild_id, user_id) DO UPDATE SET reason = excluded.reason")


def test_types_and_their_kinds_are_described() -> None:
    user, guild = (recorded(bindparam("id", type_=SnowflakeColumn(kind))) for kind in (UserId, GuildId))
    assert describe(user) != describe(guild)


def test_a_mapping_is_described_differently_from_a_list_of_its_keys_and_values() -> None:
    updates: tuple[Any, Any] = ({"a": "b"}, ("a", "b"))
    mapping, listed = (recorded(upsert(bans, key=("guild_id",), update=update)) for update in updates)
    assert describe(mapping) != describe(listed)


def test_a_value_without_a_text_of_its_own_is_refused() -> None:
    with pytest.raises(NotDescribable):
        describe(recorded(func.count(object())))  # type: ignore[arg-type]


def test_an_expression_is_no_truth_and_no_text() -> None:
    condition = bans.c.guild_id == 1
    with pytest.raises(TypeError):
        bool(condition)
    with pytest.raises(TypeError):
        f"{bans.c.reason}"


def test_the_name_of_a_table_is_known_without_it() -> None:
    assert messages.name == "messages"


def test_nothing_is_imported_before_an_expression_is_evaluated() -> None:
    with pytest.raises(ModuleNotFoundError):
        evaluate(deferred_name("no.such.module", "name").c.column)
