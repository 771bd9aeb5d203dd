"""Accounts whose deletion is due."""

from moothall.api.jobs import JobRunner
from moothall.objects.wire import Timestamp
from tests.support.accounts import PASSWORD
from tests.support.harness import Caller, Platform

DAY_MS = 86_400_000


async def delete_now(platform: Platform, caller: Caller) -> None:
    """Delete an account, and run the job that is due after some days."""
    assert (await caller.post("/users/@me/delete", {"password": PASSWORD})).status == 204
    await JobRunner(platform.services).drain(Timestamp(Timestamp.now() + 15 * DAY_MS))
