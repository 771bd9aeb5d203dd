"""Background jobs as operators see and repair them."""

from typing import Any

import pytest

from moothall.api.jobs.queries import select_job
from moothall.objects.ids import Snowflake
from moothall.objects.operator import OperatorPermission
from moothall.storage.database import Query
from moothall.storage.sql import insert
from moothall.storage.tables import jobs
from tests.support.harness import Platform
from tests.support.operators import acts, make_operator

JOBS = OperatorPermission.JOBS
_insert = Query(lambda: insert(jobs))


async def add_job(platform: Platform, kind: str = "end_poll", **columns: Any) -> Snowflake:
    job_id = platform.ids.next()
    values = {"not_before": 0, "attempts": 0, "failed_at": None, "last_error": None, **columns}
    async with platform.database.transaction() as tx:
        await tx.execute(_insert, id=job_id, kind=kind, state={"secret": "s3cret"}, created_at=1000, **values)
    return job_id


async def exists(platform: Platform, job_id: Snowflake) -> bool:
    async with platform.database.read() as reader:
        return await select_job(reader, job_id) is not None


async def test_jobs_are_listed_with_their_states_and_never_with_what_they_are_about(platform: Platform) -> None:
    operator = await make_operator(platform, JOBS)
    waiting = await add_job(platform)
    later = await add_job(platform, "later", not_before=1 << 44)
    retrying = await add_job(platform, attempts=2, last_error="no room", not_before=1 << 44)
    failed = await add_job(platform, attempts=12, failed_at=2000, last_error="no room")
    reply = await operator.get("/admin/v1/jobs")
    assert [(each["id"], each["state"]) for each in reply.json] == [
        (str(waiting), "waiting"),
        (str(later), "scheduled"),
        (str(retrying), "retrying"),
        (str(failed), "failed"),
    ]
    assert b"s3cret" not in reply.body
    assert [each["id"] for each in (await operator.get("/admin/v1/jobs", failed=True)).json] == [str(failed)]
    assert [each["id"] for each in (await operator.get("/admin/v1/jobs", kind="later")).json] == [str(later)]
    first = (await operator.get("/admin/v1/jobs", limit=2)).json
    rest = (await operator.get("/admin/v1/jobs", after=first[-1]["id"])).json
    assert [each["id"] for each in rest] == [str(retrying), str(failed)]


async def test_a_failed_job_is_run_again_or_dropped_and_the_log_has_both(platform: Platform) -> None:
    operator = await make_operator(platform, JOBS)
    one = await add_job(platform, attempts=12, failed_at=2000, last_error="no room")
    other = await add_job(platform, attempts=12, failed_at=2000, last_error="no room")
    with platform.listening():
        assert (await operator.post(f"/admin/v1/jobs/{one}/retry", reason="mended")).status == 204
    assert [envelope.name for envelope in platform.heard] == ["JOBS_DUE"]
    assert [each["state"] for each in (await operator.get("/admin/v1/jobs")).json] == ["waiting", "failed"]
    assert (await operator.delete(f"/admin/v1/jobs/{other}", reason="not wanted")).status == 204
    assert not await exists(platform, other)
    assert await acts(platform) == ["operator.add", "job.retry", "job.drop"]


async def test_all_failed_jobs_of_a_kind_are_run_again(platform: Platform) -> None:
    operator = await make_operator(platform, JOBS)
    await add_job(platform, "one", attempts=12, failed_at=2000)
    await add_job(platform, "two", attempts=12, failed_at=2000)
    assert (await operator.post("/admin/v1/jobs/retry", {"kind": "one"})).json == {"count": 1}
    assert [each["kind"] for each in (await operator.get("/admin/v1/jobs", failed=True)).json] == ["two"]
    assert (await operator.post("/admin/v1/jobs/retry", {})).json == {"count": 1}
    assert (await operator.post("/admin/v1/jobs/retry", {})).json == {"count": 0}
    assert await acts(platform) == ["operator.add", "job.retry", "job.retry"]


@pytest.mark.parametrize("act", ["retry", "drop"])
async def test_an_unknown_job_is_not_found(platform: Platform, act: str) -> None:
    operator = await make_operator(platform, JOBS)
    healthy = await add_job(platform)
    if act == "retry":
        # One that has not failed runs when it is due.
        assert (await operator.post(f"/admin/v1/jobs/{healthy}/retry")).status == 404
    else:
        assert (await operator.delete("/admin/v1/jobs/1")).status == 404
    assert await exists(platform, healthy)
    assert await acts(platform) == ["operator.add"]
