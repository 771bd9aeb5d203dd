"""Accounts that are registered over HTTP."""

from tests.support.harness import Caller, Platform

PASSWORD = "correct horse battery"


async def register(platform: Platform, name: str = "alice", **more: object) -> Caller:
    reply = await platform.anonymous.post("/auth/register", {"username": name, "password": PASSWORD, **more})
    assert reply.status == 201, reply
    return Caller(platform, int(reply.json["user_id"]), reply.json["token"], name=name)  # type: ignore[arg-type]
