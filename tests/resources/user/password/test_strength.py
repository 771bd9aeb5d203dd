"""Passwords that are common or follow from the account's names are refused wherever one is chosen."""

import time

import msgspec
import pytest

from moothall.objects.ids import Snowflake
from moothall.resources.user.password.strength import weakness
from tests.support.harness import Caller, Platform

GOOD = "correct horse battery"
NAMES = ("robinson", "robin.crusoe@island.example", "Friday the Goat")


async def register(platform: Platform, password: str) -> Caller:
    body = {"username": "robinson", "password": password, "email": "robin.crusoe@island.example"}
    reply = await platform.anonymous.post("/auth/register", body)
    assert reply.status == 201, reply
    return Caller(platform, Snowflake(int(reply.json["user_id"])), reply.json["token"])


@pytest.mark.parametrize(
    "password",
    [
        "password",
        "password123",
        "Passw0rd!",
        "12345678",
        "qwertyuiop",
        "iloveyou",
        "aaaaaaaaaaaaaaaaaaaaaaaa",
        "abcabcabcabcabc",
        "19991231",
        "robinson",
        "ROBINSON-2024",
        "nosnibor1",
        "moothall123",
        "crusoe-island",
        "robin.crusoe@island.example",
        "robinsonrobinsonrobinson",
    ],
)
async def test_a_guessable_password_makes_no_account(platform: Platform, password: str) -> None:
    body = {"username": "robinson", "password": password, "email": "robin.crusoe@island.example"}
    reply = await platform.anonymous.post("/auth/register", body)
    assert (reply.status, reply.code) == (400, 50035)
    assert set(reply.json["errors"]) == {"password"}
    assert reply.errors_at("password") == ["PASSWORD_BAD_PASSWORD"]
    (error,) = reply.json["errors"]["password"]["_errors"]
    assert error["message"].startswith("Password is too weak or common to use. ")


async def test_a_guessable_password_replaces_no_better_one(platform: Platform) -> None:
    alice = await register(platform, GOOD)
    for password in ("password123", "robinson2024"):
        reply = await alice.patch("/users/@me", {"password": GOOD, "new_password": password})
        assert reply.errors_at("new_password") == ["PASSWORD_BAD_PASSWORD"]
    assert (await alice.patch("/users/@me", {"password": GOOD, "new_password": "tulip anchor plank"})).status == 200


async def test_a_weak_password_is_told_together_with_what_else_is_wrong(platform: Platform) -> None:
    reply = await platform.anonymous.post("/auth/register", {"username": "No Good", "password": "password123"})
    assert set(reply.json["errors"]) == {"username", "password"}


async def test_the_operator_may_ask_for_less_or_more(platform: Platform) -> None:
    limits = platform.services.limits
    platform.services.limits = msgspec.structs.replace(limits, password_min_score=4)
    reply = await platform.anonymous.post("/auth/register", {"username": "bob", "password": "another password"})
    assert reply.errors_at("password") == ["PASSWORD_BAD_PASSWORD"]
    platform.services.limits = msgspec.structs.replace(limits, password_min_score=0)
    assert (await platform.anonymous.post("/auth/register", {"username": "bob", "password": "password"})).status == 201


@pytest.mark.parametrize(
    "password", [GOOD, "k3Xv9$pQ", "tulip anchor plank", "robinson tulip anchor plank", "пароль из слов"]
)
def test_a_good_password_is_taken_whatever_it_is_made_of(password: str) -> None:
    assert weakness(password, NAMES, 2) is None


def test_a_password_that_is_good_only_at_its_end_is_taken() -> None:
    assert weakness("a" * 50 + "tulip anchor plank", NAMES, 2) is None


@pytest.mark.parametrize(
    "password",
    ["4@8({[</369&#!1/|0$5+7%2/" * 3, "1" * 60 + "4@8({[</369&", "a4@8({[<" * 9, "p4ssw0rd!" * 8, "19991231" * 9],
)
def test_no_password_takes_long_to_judge(password: str) -> None:
    weakness("first, for the tables", NAMES, 4)
    started = time.process_time()
    weakness(password[:72], NAMES, 4)
    assert time.process_time() - started < 1
