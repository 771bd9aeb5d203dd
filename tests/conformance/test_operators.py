"""Endpoints of operators, as everybody else: generated from the registry."""

import re

import pytest

from moothall.api.endpoint import REGISTRY, Endpoint
from moothall.api.operators import OperatorAccess
from moothall.objects.operator import OperatorPermission
from moothall.resources import load_endpoints
from tests.support.harness import Platform
from tests.support.operators import make_operator, make_token

load_endpoints()

OPERATED = sorted(
    (row for row in REGISTRY.values() if isinstance(row.access, OperatorAccess)), key=lambda row: (row.path, row.method)
)


def path_of(row: Endpoint) -> str:
    return re.sub(r"\{\w+\}", "1", row.path)


def test_operators_have_endpoints_below_a_path_of_their_own() -> None:
    assert OPERATED
    below = {row.name for row in REGISTRY.values() if row.path.startswith("/admin/")} - {
        "claim_server",
        "check_setup_link",
    }
    assert {row.name for row in OPERATED} == below


@pytest.mark.parametrize("row", OPERATED, ids=[f"{row.method} {row.path}" for row in OPERATED])
async def test_an_endpoint_of_operators_refuses_everybody_else(shared_platform: Platform, row: Endpoint) -> None:
    platform, path = shared_platform, path_of(row)
    assert isinstance(row.access, OperatorAccess)
    person = await platform.person()
    guild = await platform.guild(person)
    others = [permission for permission in OperatorPermission if permission is not row.access.permission]
    callers = [
        (platform.anonymous, 401),
        (person, 403),
        (guild.owner, 403),
        (await platform.bot(person), 403),
        (await platform.bearer(person, 1, "identify", "guilds"), 403),
    ]
    if row.access.permission is not None:
        operator = await make_operator(platform, *others)
        callers.append((operator, 403))
        callers.append((await make_token(platform, operator, *others), 403))
    for caller, status in callers:
        reply = await caller.request(row.method, path, {})
        assert reply.status == status, (caller.name, reply.body)
