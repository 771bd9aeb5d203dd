"""`moothall jobs`: listing, retrying and dropping jobs."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest
from sqlalchemy import insert

from moothall.api.context import Context
from moothall.api.jobs import MAX_ATTEMPTS, Job, job
from moothall.app.application import App
from moothall.objects.wire import Timestamp
from moothall.settings import Settings
from moothall.storage.database import Database, Query
from moothall.storage.schema import jobs
from tests.cli.running import failed, run

NOW = Timestamp.now()
ERROR = "ArithmeticError: always"
FAILED: dict[str, Any] = {"attempts": MAX_ATTEMPTS, "failed_at": NOW - 5_000, "last_error": ERROR}
RETRYING: dict[str, Any] = {"attempts": 3, "not_before": NOW + 3_600_000, "last_error": ERROR}
SCHEDULED: dict[str, Any] = {"not_before": NOW + 86_400_000}

_insert = Query(insert(jobs))

done: list[int] = []


@job
class Note(Job, frozen=True, kw_only=True):
    """Records that it ran."""

    kind: ClassVar[str] = "test_note"
    number: int

    async def step(self, ctx: Context) -> Job | None:
        del ctx
        done.append(self.number)
        return None


@pytest.fixture(autouse=True)
def _nothing_done() -> None:
    done.clear()


async def store(database: Database, *rows: Mapping[str, Any]) -> None:
    """Store jobs with the ids 1, 2, 3..., each of which records its id."""
    async with database.transaction() as tx:
        for job_id, row in enumerate(rows, start=1):
            await tx.execute(
                _insert, **{"id": job_id, "kind": Note.kind, "state": {"number": job_id}, "created_at": NOW, **row}
            )


async def command(*arguments: str, url: str) -> Any:
    """Run `moothall jobs` on a thread, because it starts its own event loop."""
    return await asyncio.to_thread(run, "jobs", *arguments, "--database-url", url)


async def listed(url: str, *arguments: str) -> list[Any]:
    result = await command("list", "--json", *arguments, url=url)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


async def test_every_job_is_listed_with_its_status_and_last_error(database: Database, database_url: str) -> None:
    await store(database, {}, FAILED, RETRYING, SCHEDULED)
    result = await command("list", url=database_url)
    lines = [line.split(maxsplit=5) for line in result.stdout.splitlines()]
    assert result.exit_code == 0, result.output
    assert [line[:4] for line in lines[1:]] == [
        ["1", "test_note", "waiting", "0"],
        ["2", "test_note", "failed", str(MAX_ATTEMPTS)],
        ["3", "test_note", "retrying", "3"],
        ["4", "test_note", "scheduled", "0"],
    ]
    assert [line[4:] for line in lines[1:]] == [
        [NOW.wire(), "-"],
        ["-", ERROR],
        [Timestamp(RETRYING["not_before"]).wire(), ERROR],
        [Timestamp(SCHEDULED["not_before"]).wire(), "-"],
    ]


async def test_a_job_as_json_has_everything_that_is_stored_of_it(database: Database, database_url: str) -> None:
    await store(database, FAILED)
    assert await listed(database_url) == [
        {
            "id": "1",
            "kind": "test_note",
            "status": "failed",
            "attempts": MAX_ATTEMPTS,
            "created_at": NOW.wire(),
            "next_attempt_at": None,
            "failed_at": Timestamp(NOW - 5_000).wire(),
            "last_error": ERROR,
            "state": {"number": 1},
        }
    ]


async def test_a_list_can_be_of_failed_jobs_of_one_kind_and_short(database: Database, database_url: str) -> None:
    await store(database, {}, FAILED, FAILED, {**FAILED, "kind": "other"})
    assert [row["id"] for row in await listed(database_url, "--failed")] == ["2", "3", "4"]
    assert [row["id"] for row in await listed(database_url, "--kind", Note.kind)] == ["1", "2", "3"]
    assert [row["id"] for row in await listed(database_url, "--failed", "--kind", "other")] == ["4"]
    short = await command("list", "--failed", "--limit", "2", url=database_url)
    assert short.stderr == "moothall: 1 more are not shown; see --limit\n"
    assert (await command("list", "--kind", "none", url=database_url)).stdout == "no jobs\n"


async def test_without_a_server_a_retried_job_waits_for_the_next_start(database: Database, database_url: str) -> None:
    await store(database, FAILED, RETRYING, FAILED)
    assert (await command("retry", "1", "2", url=database_url)).stdout == "retried: 2\n"
    assert [row["status"] for row in await listed(database_url)] == ["waiting", "waiting", "failed"]
    assert (await command("retry", "--failed", "--kind", "other", url=database_url)).stdout == "retried: 0\n"
    assert (await command("retry", "--failed", url=database_url)).stdout == "retried: 1\n"
    assert [row["status"] for row in await listed(database_url)] == ["waiting"] * 3


async def test_dropped_jobs_are_deleted(database: Database, database_url: str) -> None:
    await store(database, FAILED, {}, FAILED, {**FAILED, "kind": "other"}, SCHEDULED)
    assert (await command("drop", "1", "2", url=database_url)).stdout == "dropped: 2\n"
    assert (await command("drop", "--failed", "--kind", "other", url=database_url)).stdout == "dropped: 1\n"
    assert (await command("drop", "--failed", url=database_url)).stdout == "dropped: 1\n"
    assert [row["id"] for row in await listed(database_url)] == ["5"]


async def test_an_unknown_id_is_an_error_and_changes_no_job(database: Database, database_url: str) -> None:
    await store(database, FAILED, SCHEDULED)
    before = await listed(database_url)
    retry = await command("retry", "1", "2", url=database_url)
    drop = await command("drop", "1", "2", "3", "4", url=database_url)
    assert failed(retry) == "moothall: no job that has failed an attempt: 2"
    assert failed(drop) == "moothall: no such job: 3, 4"
    assert await listed(database_url) == before


@pytest.mark.parametrize(
    "arguments",
    [("retry",), ("drop",), ("retry", "1", "--failed"), ("drop", "1", "--failed"), ("drop", "1", "--kind", "x"),
     ("retry", "one"), ("list", "--limit", "0")],
)  # fmt: skip
def test_a_command_that_names_no_jobs_is_a_usage_error(arguments: tuple[str, ...], tmp_path: Path) -> None:
    assert run("jobs", *arguments, "--data", str(tmp_path)).exit_code == 2


async def test_a_running_server_does_a_retried_job_at_once(tmp_path: Path) -> None:
    app = App(Settings(data=tmp_path, demo=False))
    app.jobs._seconds = 3600  # it looks only when it is woken
    await app.start()
    await store(app.database, FAILED, FAILED)
    await asyncio.sleep(0.1)
    result = await asyncio.to_thread(run, "jobs", "retry", "2", "--data", str(tmp_path))
    assert result.stdout == "retried: 1\n"
    async with asyncio.timeout(30):
        while not done:  # noqa: ASYNC110 the runner has no event for it
            await asyncio.sleep(0.01)
    await app.stop()
    assert done == [2]
