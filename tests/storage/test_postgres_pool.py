"""The pool of connections: reuse, waiting, and connections that are not needed any more."""

import asyncio
from typing import Any

import asyncpg
import pytest

from moothall.runtime.lanes import enter_lane
from moothall.storage.postgres import pool as postgres_pool
from moothall.storage.postgres.pool import PostgresPool


class Connection:
    """What the pool calls of a connection."""

    def __init__(self) -> None:
        self.closed = False

    def is_closed(self) -> bool:
        return self.closed

    def terminate(self) -> None:
        self.closed = True

    async def close(self, *, timeout: float) -> None:
        assert timeout
        self.closed = True


async def connect() -> Connection:
    await asyncio.sleep(0)
    return Connection()


def pool(maximum: int = 1, seconds: float = 30) -> PostgresPool[Connection]:
    return PostgresPool(connect, maximum=maximum, seconds=seconds)


async def test_a_connection_is_used_again_unless_it_is_broken() -> None:
    connections = pool()
    first = await connections.acquire()
    connections.release(first)
    assert await connections.acquire() is first
    first.closed = True
    connections.release(first)
    assert await connections.acquire() is not first


async def test_who_waits_gets_a_connection_in_the_order_of_asking() -> None:
    connections = pool()
    connection = await connections.acquire()
    order: list[int] = []

    async def use(number: int) -> None:
        taken = await connections.acquire()
        order.append(number)
        connections.release(taken)

    tasks = [asyncio.create_task(use(number)) for number in range(3)]
    await asyncio.sleep(0)
    tasks[1].cancel()
    connections.release(connection)
    await asyncio.gather(*tasks, return_exceptions=True)
    assert order == [0, 2]


async def test_who_asks_for_many_connections_keeps_no_one_else_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = 0.0
    monkeypatch.setattr(postgres_pool, "stopwatch", lambda: clock)
    connections = pool()
    connection = await connections.acquire()
    order: list[tuple[str, int]] = []

    async def use(lane: str, number: int) -> None:
        nonlocal clock
        enter_lane(lambda: lane)
        taken = await connections.acquire()
        order.append((lane, number))
        clock += 0.02
        connections.release(taken)

    tasks = [asyncio.create_task(use("flood", number)) for number in range(20)]
    await asyncio.sleep(0)
    tasks += [asyncio.create_task(use(lane, 0)) for lane in ("alice", "bob")]
    await asyncio.sleep(0)
    connections.release(connection)
    await asyncio.gather(*tasks)
    assert order[:3] == [("flood", 0), ("alice", 0), ("bob", 0)]
    assert order[3:] == [("flood", number) for number in range(1, 20)]


async def test_a_connection_that_is_handed_to_a_cancelled_task_is_not_lost() -> None:
    connections = pool()
    connection = await connections.acquire()
    task: asyncio.Task[Any] = asyncio.create_task(connections.acquire())
    await asyncio.sleep(0)
    connections.release(connection)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert await connections.acquire() is connection


async def test_a_connection_that_breaks_makes_place_for_one_who_waits() -> None:
    connections = pool()
    connection = await connections.acquire()
    task: asyncio.Task[Any] = asyncio.create_task(connections.acquire())
    await asyncio.sleep(0)
    connections.drop(connection)
    assert await task is not connection


async def test_who_waits_too_long_is_told_so() -> None:
    connections = pool(seconds=0.01)
    await connections.acquire()
    with pytest.raises(TimeoutError):
        await connections.acquire()


async def test_where_the_server_takes_no_more_connections_those_that_there_are_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tries: list[int] = []

    async def refuse_the_second() -> Connection:
        tries.append(len(tries) + 1)
        if tries[-1] == 2:
            raise asyncpg.TooManyConnectionsError("sorry, too many clients already")
        return await connect()

    now = [0.0]
    monkeypatch.setattr(postgres_pool, "stopwatch", lambda: now[0])
    connections = PostgresPool(refuse_the_second, maximum=4, seconds=30)
    first = await connections.acquire()
    waiting = [asyncio.create_task(connections.acquire()) for _ in range(2)]
    await asyncio.sleep(0.01)
    assert tries == [1, 2]
    connections.release(first)
    assert await waiting[0] is first
    assert not waiting[1].done()
    now[0] = 2.0
    assert await connections.acquire() is not first
    connections.drop(first)
    assert await waiting[1] is not first
    assert tries == [1, 2, 3, 4]


async def test_the_first_connection_that_the_server_refuses_fails() -> None:
    async def refuse() -> Connection:
        raise asyncpg.TooManyConnectionsError("sorry, too many clients already")

    connections = PostgresPool(refuse, maximum=4, seconds=30)
    for _ in range(2):
        with pytest.raises(asyncpg.TooManyConnectionsError):
            await connections.acquire()


async def test_connections_that_are_not_used_for_long_are_closed_but_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(postgres_pool, "stopwatch", lambda: now[0])
    connections = pool(maximum=3)
    taken = [await connections.acquire() for _ in range(3)]
    for connection in taken:
        connections.release(connection)
    for now[0] in (400.0, 401.0, 402.0):
        connections.release(await connections.acquire())
    assert connections.idle == [taken[2]]
    assert [connection.closed for connection in taken] == [True, True, False]


async def test_closing_waits_for_what_is_in_use() -> None:
    connections = pool(maximum=2)
    used, unused = await connections.acquire(), await connections.acquire()
    connections.release(unused)
    closing = asyncio.create_task(connections.close())
    await asyncio.sleep(0)
    assert not closing.done()
    connections.release(used)
    await closing
    assert used.closed
    assert unused.closed
    with pytest.raises(asyncpg.InterfaceError):
        await connections.acquire()


async def test_who_gives_up_waiting_is_not_remembered() -> None:
    connections = pool()
    connection = await connections.acquire()
    tasks = [asyncio.create_task(connections.acquire()) for _ in range(5)]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert not connections._waiting
    connections.release(connection)
    assert await connections.acquire() is connection
