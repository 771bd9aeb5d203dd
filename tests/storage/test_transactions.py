"""Transactions on both engines."""

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Self

import pytest
from sqlalchemy import bindparam, func, insert, select, update

from moothall.objects.ids import GuildId, Snowflake
from moothall.resources.guild.ban.queries import BanRow
from moothall.runtime import turns
from moothall.runtime.turns import TURN_SECONDS
from moothall.storage import bulk
from moothall.storage.database import ConstraintFailed, Database, Query, StorageError, StorageUnavailable
from moothall.storage.engines import database_at
from moothall.storage.schema import bans, guild_counters
from moothall.storage.sqlite import engine

BAN = Query(insert(bans))
BANNED = Query(select(bans.c.user_id).order_by(bans.c.user_id))
REASON = Query(select(bans.c.reason).where(bans.c.user_id == bindparam("user_id")))
BANS = Query(select(bans).order_by(bans.c.user_id), into=BanRow)
LONG = Query(select(func.count()).select_from(bans))
ADD_COUNTER = Query(insert(guild_counters))
READ_COUNTER = Query(select(guild_counters.c.member_count).where(guild_counters.c.guild_id == bindparam("guild_id")))
SET_COUNTER = Query(
    update(guild_counters)
    .where(guild_counters.c.guild_id == bindparam("guild_id"))
    .values(member_count=bindparam("count"))
)
GUILD = GuildId(Snowflake(1))


async def ban(database: Database, user_id: int) -> None:
    async with database.transaction(GUILD) as tx:
        await tx.execute(BAN, guild_id=GUILD, user_id=user_id, reason=f"ban {user_id}", created_at=1)


async def ban_and_raise(database: Database, user_id: int) -> None:
    async with database.transaction(GUILD) as tx:
        await tx.execute(BAN, guild_id=GUILD, user_id=user_id, reason="x", created_at=1)
        raise KeyError(user_id)


async def banned(database: Database) -> list[int]:
    async with database.read() as reader:
        return [user_id for (user_id,) in await reader.all(BANNED)]


async def test_a_write_is_seen_by_all_readers_once_the_transaction_is_left(database: Database) -> None:
    await ban(database, 2)
    async with database.read() as reader:
        assert await reader.scalar(REASON, user_id=2) == "ban 2"
        assert await reader.all_long(LONG) == [(1,)]


class Beats:
    """Counts the turns of the event loop while the block runs, each look at the clock a turn's time later."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for module in (turns, bulk, engine):
            monkeypatch.setattr(module, "stopwatch", count(0.0, TURN_SECONDS).__next__)
        self.count = 0

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._beat())
        return self

    async def __aexit__(self, *_error: object) -> None:
        self._task.cancel()

    async def _beat(self) -> None:
        while True:
            self.count += 1
            await asyncio.sleep(0)


async def test_others_run_while_many_rows_are_written_and_made(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = range(1, 301)
    rows = [{"guild_id": GUILD, "user_id": user_id, "reason": "x", "created_at": 1} for user_id in ids]
    async with Beats(monkeypatch) as beats:
        async with database.transaction(GUILD) as tx:
            before = beats.count
            await tx.execute_many(BAN, rows)
            # PostgreSQL receives all rows at once; others run while it is waited for, one turn or several.
            assert beats.count > before + (3 if database.dialect == "sqlite" else 0)
            assert [row.user_id for row in await tx.all_many(BANS)] == list(ids)
            assert await banned(database) == []
        async with database.read() as reader:
            before = beats.count
            in_pieces = await reader.all_many(BANS)
            assert beats.count > before + 3
            assert in_pieces == await reader.all(BANS)
            assert len(in_pieces) == 300
            assert await reader.all_many(BANNED) == [(user_id,) for user_id in ids]


async def test_a_write_is_seen_by_its_own_transaction_only_until_then(database: Database) -> None:
    async with database.transaction(GUILD) as tx:
        await tx.execute(BAN, guild_id=GUILD, user_id=2, reason="x", created_at=1)
        assert await tx.scalar(REASON, user_id=2) == "x"
        assert await tx.all_long(LONG) == [(1,)]
        assert await banned(database) == []
    assert await banned(database) == [2]


async def test_a_body_that_raises_leaves_no_trace(database: Database) -> None:
    with pytest.raises(KeyError):
        await ban_and_raise(database, 2)
    assert await banned(database) == []
    await ban(database, 3)
    assert await banned(database) == [3]


async def test_a_failing_transaction_does_not_disturb_those_around_it(database: Database) -> None:
    tasks = [ban_and_raise(database, number) if number % 3 == 0 else ban(database, number) for number in range(30)]
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert [isinstance(outcome, KeyError) for outcome in outcomes] == [number % 3 == 0 for number in range(30)]
    assert await banned(database) == [number for number in range(30) if number % 3]


async def test_a_failed_statement_cannot_be_swallowed(database: Database) -> None:
    await ban(database, 2)

    async def swallow() -> None:
        async with database.transaction(GUILD) as tx:
            await tx.execute(BAN, guild_id=GUILD, user_id=3, reason="x", created_at=1)
            with pytest.raises(ConstraintFailed):
                await tx.execute(BAN, guild_id=GUILD, user_id=2, reason="x", created_at=1)
            with pytest.raises(RuntimeError, match="the transaction is over"):
                await tx.execute(BAN, guild_id=GUILD, user_id=4, reason="x", created_at=1)

    with pytest.raises(ConstraintFailed):
        await swallow()
    assert await banned(database) == [2]


async def test_a_transaction_that_is_left_can_do_nothing_more(database: Database) -> None:
    async with database.transaction(GUILD) as tx:
        pass
    with pytest.raises(RuntimeError, match="the transaction is over"):
        await tx.execute(BAN, guild_id=GUILD, user_id=2, reason="x", created_at=1)
    with pytest.raises(RuntimeError, match="the transaction is over"):
        tx.on_commit(lambda: None)


async def test_a_transaction_inside_another_is_refused_and_not_waited_for(database: Database) -> None:
    async with database.transaction(GUILD) as tx:
        with pytest.raises(RuntimeError, match="inside another"):
            async with database.transaction(GUILD):
                pass
        await tx.execute(BAN, guild_id=GUILD, user_id=2, reason="x", created_at=1)
    assert await banned(database) == [2]


async def test_transactions_with_one_lock_never_lose_an_update(database: Database) -> None:
    async with database.transaction(GUILD) as tx:
        await tx.execute(ADD_COUNTER, guild_id=GUILD, member_count=0)

    async def count() -> None:
        async with database.transaction(GUILD) as tx:
            value = await tx.scalar(READ_COUNTER, guild_id=GUILD)
            await asyncio.sleep(0)
            await tx.execute(SET_COUNTER, guild_id=GUILD, count=value + 1)

    await asyncio.gather(*(count() for _ in range(40)))
    async with database.read() as reader:
        assert await reader.scalar(READ_COUNTER, guild_id=GUILD) == 40


async def test_transactions_with_one_lock_run_first_come_first_served(database: Database) -> None:
    order: list[int] = []

    async def take(number: int) -> None:
        async with database.transaction(GUILD):
            order.append(number)
            await asyncio.sleep(0.001)

    async with asyncio.TaskGroup() as group:
        for number in range(12):
            group.create_task(take(number))
    assert order == list(range(12))


async def test_callbacks_come_after_the_commit_in_its_order_and_before_the_answer(database: Database) -> None:
    heard: list[tuple[str, int]] = []
    written: list[int] = []

    def tell(number: int) -> Callable[[], None]:
        return lambda: heard.append(("committed", number))

    async def work(number: int) -> None:
        async with database.transaction(GUILD) as tx:
            await tx.execute(BAN, guild_id=GUILD, user_id=number, reason="x", created_at=1)
            written.append(number)
            tx.on_commit(tell(number))
            assert ("committed", number) not in heard
        heard.append(("answered", number))

    await asyncio.gather(*(work(number) for number in range(20)))
    assert [number for what, number in heard if what == "committed"] == written
    for number in range(20):
        assert heard.index(("committed", number)) < heard.index(("answered", number))


async def test_a_rolled_back_transaction_runs_no_callback(database: Database) -> None:
    heard: list[int] = []

    async def fail() -> None:
        async with database.transaction(GUILD) as tx:
            tx.on_commit(lambda: heard.append(1))
            raise KeyError

    with pytest.raises(KeyError):
        await fail()
    await ban(database, 2)
    assert heard == []


async def test_a_callback_that_raises_does_not_stop_the_others(database: Database) -> None:
    reported: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["exception"]))
    heard: list[int] = []
    async with database.transaction(GUILD) as tx:
        tx.on_commit(lambda: 1 // 0)  # type: ignore[arg-type]
        tx.on_commit(lambda: heard.append(1))
    assert heard == [1]
    assert [type(error) for error in reported] == [ZeroDivisionError]


async def test_a_task_cancelled_in_its_body_is_rolled_back(database: Database) -> None:
    inside = asyncio.Event()

    async def dawdle() -> None:
        async with database.transaction(GUILD) as tx:
            await tx.execute(BAN, guild_id=GUILD, user_id=2, reason="x", created_at=1)
            inside.set()
            await asyncio.sleep(60)

    task = asyncio.create_task(dawdle())
    await inside.wait()
    waiting = asyncio.create_task(ban(database, 3))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await waiting
    assert await banned(database) == [3]


async def test_a_task_cancelled_while_it_waits_for_its_turn_lets_the_others_pass(database: Database) -> None:
    inside, leave = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        async with database.transaction(GUILD):
            inside.set()
            await leave.wait()

    holder = asyncio.create_task(hold())
    await inside.wait()
    waiting = [asyncio.create_task(ban(database, number)) for number in range(6)]
    await asyncio.sleep(0.02)
    for task in waiting[::2]:
        task.cancel()
    leave.set()
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    await holder
    assert [isinstance(outcome, asyncio.CancelledError) for outcome in outcomes] == [True, False] * 3
    assert await banned(database) == [1, 3, 5]


async def test_a_task_cancelled_during_its_commit_is_cancelled_after_the_callbacks(database: Database) -> None:
    heard: list[str] = []

    async def work() -> None:
        async with database.transaction(GUILD) as tx:
            await tx.execute(BAN, guild_id=GUILD, user_id=2, reason="x", created_at=1)
            tx.on_commit(lambda: heard.append("committed"))
            # Runs when this task next sleeps, which is when it waits for the commit.
            asyncio.get_running_loop().call_soon(task.cancel)

    task = asyncio.create_task(work())
    with pytest.raises(asyncio.CancelledError):
        await task
    assert heard == ["committed"]
    assert await banned(database) == [2]


@pytest.mark.parametrize("seed", range(5))
async def test_cancelling_at_any_moment_keeps_transactions_whole(database: Database, seed: int) -> None:
    committed: list[int] = []

    async def pair(number: int) -> None:
        async with database.transaction(GUILD) as tx:
            tx.on_commit(lambda: committed.append(number))
            await tx.execute(BAN, guild_id=GUILD, user_id=2 * number, reason="x", created_at=1)
            if number % 2:
                await asyncio.sleep(0)
            await tx.execute(BAN, guild_id=GUILD, user_id=2 * number + 1, reason="x", created_at=1)

    tasks = [asyncio.create_task(pair(number)) for number in range(40)]
    for step in range(40):
        await asyncio.sleep(0.0003 * ((step * 7 + seed) % 3))
        tasks[(step * 11 + seed * 5) % 40].cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    await database.settled()
    assert await banned(database) == sorted(user for number in committed for user in (2 * number, 2 * number + 1))
    assert {number for number, outcome in enumerate(outcomes) if outcome is None} <= set(committed)
    await ban(database, 1000)


async def test_settled_waits_for_what_is_under_way(database: Database) -> None:
    task = asyncio.create_task(ban(database, 2))
    await asyncio.sleep(0)
    await database.settled()
    assert await banned(database) == [2]
    await task
    await database.settled()


async def test_every_commit_is_observed(database: Database) -> None:
    seen: list[tuple[int, float]] = []
    database.observe_commit = lambda size, seconds: seen.append((size, seconds))
    await asyncio.gather(*(ban(database, number) for number in range(10)))
    assert sum(size for size, _ in seen) == 10
    assert all(seconds > 0 for _, seconds in seen)


async def test_what_was_written_is_there_when_the_database_is_opened_again(database_url: str) -> None:
    first = database_at(database_url)
    await first.open()
    await ban(first, 2)
    await first.close()
    second = database_at(database_url)
    await second.open()
    assert await banned(second) == [2]
    await second.close()


async def test_a_closed_database_is_unavailable_and_can_be_opened_again(database_url: str) -> None:
    database = database_at(database_url)
    await database.open()
    await database.close()
    await database.close()
    with pytest.raises(StorageUnavailable):
        await ban(database, 2)
    with pytest.raises(StorageUnavailable):
        await banned(database)
    await database.open()
    await ban(database, 3)
    assert await banned(database) == [3]
    await database.close()


async def test_closing_waits_for_running_transactions(database_url: str) -> None:
    database = database_at(database_url)
    await database.open()
    tasks = [asyncio.create_task(ban(database, number)) for number in range(20)]
    await asyncio.sleep(0)
    await database.close()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert outcomes[0] is None
    assert all(outcome is None or isinstance(outcome, StorageUnavailable) for outcome in outcomes)
    await database.open()
    assert await banned(database) == [number for number, outcome in enumerate(outcomes) if outcome is None]
    await database.close()


async def test_an_invalid_statement_is_a_storage_error(database: Database) -> None:
    with pytest.raises(StorageError):
        async with database.transaction() as tx:
            await tx.execute(Query(select(func.no_such_function())))
    with pytest.raises(StorageError):
        async with database.read() as reader:
            await reader.scalar(Query(select(func.no_such_function())))


@pytest.mark.parametrize("url", ["mysql://localhost/x", "sqlite://", "sqlite:///", "moothall.db", ""])
def test_a_url_of_no_engine_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="sqlite:/// or postgresql://"):
        database_at(url)


async def fail_to_count(database: Database) -> None:
    async with database.transaction() as tx:
        await tx.execute(SET_COUNTER, guild_id=GUILD, count=5)
        raise ZeroDivisionError


async def test_watched_rows_are_reported_with_their_commit_and_never_without(database: Database) -> None:
    reported: list[set[int]] = []
    if not database.watch_rows("guild_counters", lambda ids: reported.append(set(ids or ()))):
        return  # other processes write here too

    async with database.transaction() as tx:
        await tx.execute_many(ADD_COUNTER, [{"guild_id": guild_id, "member_count": 0} for guild_id in (1, 2)])
        await tx.execute(BAN, guild_id=GUILD, user_id=7, reason=None, created_at=1)
        assert reported == []
    with pytest.raises(ZeroDivisionError):
        await fail_to_count(database)
    await ban(database, 8)
    async with database.transaction() as tx:
        await tx.execute(SET_COUNTER, guild_id=GUILD, count=6)

    assert reported == [{1, 2}, {1}]
