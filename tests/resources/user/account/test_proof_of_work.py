"""Proof of work of those who register: asked for by the setting, good once, for minutes, and made by this server."""

import asyncio
import base64
import json
from typing import Any

import pytest
from altcha import v1
from msgspec import structs

from moothall.objects.clock import CLOCK
from tests.support.harness import Platform, Reply

PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tests wait."""
    monkeypatch.setattr(CLOCK, "_offset_ns", 0)  # restored after the test


@pytest.fixture(autouse=True)
def asks(platform: Platform) -> None:
    """Ask for a proof of work."""
    platform.services.limits = structs.replace(platform.services.limits, registration_proof_of_work=50)


def solve(challenge: dict[str, Any]) -> dict[str, Any]:
    """What ALTCHA's own solver finds."""
    solution = v1.solve_challenge(challenge["challenge"], challenge["salt"], max_number=challenge["maxNumber"])
    assert solution is not None
    return {name: challenge[name] for name in ("algorithm", "challenge", "salt", "signature")} | {
        "number": solution.number
    }


def sent(solution: object) -> str:
    return base64.b64encode(json.dumps(solution).encode()).decode()


async def solved(platform: Platform) -> dict[str, Any]:
    return solve((await platform.anonymous.get("/auth/altcha")).json)


async def register(platform: Platform, name: str, captcha_key: str | None, **fields: object) -> Reply:
    body = {"username": name, "password": PASSWORD, "captcha_key": captcha_key, **fields}
    return await platform.anonymous.post("/auth/register", body)


async def test_a_solution_registers_one_account(platform: Platform) -> None:
    key = sent(await solved(platform))
    weak = await register(platform, "anna", key, password="password")
    assert weak.errors_at("password") != []
    assert (await register(platform, "anna", key)).status == 201
    again = await register(platform, "berta", key)
    assert (again.status, again.errors_at("captcha_key")) == (400, ["INVALID_TOKEN"])
    # Spelled otherwise it is the same one.
    opened = json.loads(base64.b64decode(key))
    respelled = await register(platform, "berta", sent(opened | {"salt": opened["salt"].rstrip("&"), "more": 1}))
    assert respelled.status == 400


async def test_of_two_who_use_a_solution_at_once_one_registers(platform: Platform) -> None:
    key = sent(await solved(platform))
    replies = await asyncio.gather(*(register(platform, f"anna{number}", key) for number in range(3)))
    assert sorted(reply.status for reply in replies) == [201, 400, 400]


async def test_without_a_solution_the_refusal_says_which_service_to_ask(platform: Platform) -> None:
    reply = await register(platform, "anna", None)
    assert (reply.status, reply.json["captcha_key"]) == (400, ["captcha-required"])
    assert reply.json["captcha_service"] == "altcha"
    assert (await platform.anonymous.get("/auth/methods")).json["proof_of_work"] is True
    platform.services.limits = structs.replace(platform.services.limits, registration_proof_of_work=0)
    assert (await platform.anonymous.get("/auth/altcha")).code == 40006
    assert (await register(platform, "anna", None)).status == 201


async def test_a_solution_is_good_for_minutes(platform: Platform) -> None:
    key = sent(await solved(platform))
    CLOCK.advance(541)
    assert (await register(platform, "anna", key)).status == 400


@pytest.mark.parametrize(
    "wrong",
    [
        {"number": 51},
        {"number": "1"},
        {"signature": "0" * 64},
        {"algorithm": "SHA-1"},
        {"salt": "00?expires=99999999999&"},
        {"salt": ""},
        {"challenge": ""},
    ],
)
async def test_what_this_server_has_not_made_is_refused(platform: Platform, wrong: dict[str, object]) -> None:
    reply = await register(platform, "anna", sent(await solved(platform) | wrong))
    assert (reply.status, reply.errors_at("captcha_key")) == (400, ["INVALID_TOKEN"])


@pytest.mark.parametrize("text", ["x", "e30=", "W10=", "bnVsbA==", "\udcff", "é"])
async def test_what_is_no_solution_is_refused(platform: Platform, text: str) -> None:
    assert (await register(platform, "anna", text)).status == 400
