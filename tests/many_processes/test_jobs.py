"""Jobs of several processes: what an operator retries is done at once, by one of them."""

import asyncio
from typing import ClassVar

from sqlalchemy import insert

from moothall.api.context import Context
from moothall.api.jobs import MAX_ATTEMPTS, Job, job
from moothall.storage.database import Query
from moothall.storage.schema import jobs
from tests.cli.running import run
from tests.many_processes.nodes import Node

_insert = Query(insert(jobs))

done: list[int] = []


@job
class Note(Job, frozen=True, kw_only=True):
    """Notes that it is done."""

    kind: ClassVar[str] = "test_note_of_many"
    number: int

    async def step(self, ctx: Context) -> Job | None:
        del ctx
        done.append(self.number)
        return None


async def test_retried_jobs_are_done_at_once_and_each_of_them_once(
    nodes: tuple[Node, Node], shared_database: str
) -> None:
    done.clear()
    for node in nodes:
        await node.app.jobs.stop()
        node.app.jobs._seconds = 3600  # it looks only when it is woken
        node.app.jobs.start()
    failure = {"kind": Note.kind, "created_at": 1, "attempts": MAX_ATTEMPTS, "failed_at": 1}
    async with nodes[0].app.database.transaction() as tx:
        await tx.execute_many(_insert, [{**failure, "id": n, "state": {"number": n}} for n in range(1, 21)])
    await asyncio.sleep(0.1)
    result = await asyncio.to_thread(run, "jobs", "retry", "--failed", "--database-url", shared_database)
    assert result.stdout == "retried: 20\n"
    async with asyncio.timeout(60):
        while len(done) < 20:  # noqa: ASYNC110 there is no event to wait for
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.2)
    assert sorted(done) == list(range(1, 21))
