"""Guessing passwords: every guess is counted before it is compared, and does not lock known devices out."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import func, select

from moothall.objects.ids import Snowflake
from moothall.objects.wire import Timestamp
from moothall.resources.user.password.queries import MAX_KNOWN_NETWORKS, is_known, upsert_known
from moothall.runtime.budgets import SERVER, Payer
from moothall.runtime.secrets import Passwords
from moothall.storage.database import Database, Query
from moothall.storage.schema import known_networks
from tests.support.harness import Caller, Platform, Reply

PASSWORD = "correct horse battery"
HOME, ELSEWHERE, STRANGE = "192.0.2.1", "198.51.100.7", "203.0.113.9"


class CountingPasswords(Passwords):
    """Remembers which passwords were tried on which hash."""

    def __init__(self) -> None:
        super().__init__()
        self.tried: list[str | None] = []

    async def verify(self, stored: str | None, password: str, payer: Payer = SERVER) -> bool:
        self.tried.append(stored)
        return await super().verify(stored, password, payer)

    @property
    def count(self) -> int:
        """How many tries a real password had."""
        return sum(stored is not None for stored in self.tried)


@pytest.fixture
def passwords(platform: Platform) -> CountingPasswords:
    made = platform.services.passwords = CountingPasswords()
    return made


async def register(platform: Platform, name: str = "alice", **more: object) -> Caller:
    body = {"username": name, "password": PASSWORD, **more}
    reply = await platform.anonymous.post("/auth/register", body, client=HOME)
    assert reply.status == 201, reply
    return Caller(platform, Snowflake(int(reply.json["user_id"])), reply.json["token"], name=name)


async def log_in(platform: Platform, login: str, password: str = PASSWORD, *, client: str = HOME) -> Reply:
    return await platform.anonymous.post("/auth/login", {"login": login, "password": password}, client=client)


async def wrong(platform: Platform, login: str, count: int, *, client: str = STRANGE) -> list[int]:
    return [(await log_in(platform, login, "wrong password", client=client)).status for _ in range(count)]


async def test_forty_logins_at_once_are_counted_before_any_is_tried(
    platform: Platform, passwords: CountingPasswords
) -> None:
    await register(platform)
    replies = await asyncio.gather(
        *(log_in(platform, "alice", f"wrong password {number}", client=STRANGE) for number in range(40))
    )
    assert sorted(reply.status for reply in replies) == [400] * 10 + [429] * 30
    assert passwords.count == 10


async def test_forty_logins_at_once_under_both_names_are_one_count(
    platform: Platform, passwords: CountingPasswords
) -> None:
    await register(platform, email="alice@example.org")
    await asyncio.gather(
        *(
            log_in(platform, login, f"wrong password {number}", client=f"203.0.113.{number}")
            for number in range(20)
            for login in ("alice", "alice@example.org")
        )
    )
    assert passwords.count == 10


async def test_forty_guesses_at_once_with_a_stolen_session_are_counted_before_any_is_tried(
    platform: Platform, passwords: CountingPasswords
) -> None:
    alice = await register(platform)
    change = {"new_password": "a better one altogether"}
    replies = await asyncio.gather(
        *(alice.patch("/users/@me", change | {"password": f"wrong {number}"}) for number in range(20)),
        *(
            alice.post("/auth/sessions/logout", {"session_id_hashes": ["x"], "password": f"wrong {number}"})
            for number in range(20)
        ),
    )
    assert sorted(reply.status for reply in replies) == [400] * 10 + [429] * 30
    assert passwords.count == 10


async def test_a_stranger_does_not_lock_the_owner_out(platform: Platform) -> None:
    alice = await register(platform)
    assert await wrong(platform, "alice", 11) == [400] * 10 + [429]
    assert (await log_in(platform, "alice", client=STRANGE)).status == 429
    # From elsewhere the owner is a stranger, too.
    assert (await log_in(platform, "alice", client=ELSEWHERE)).status == 429
    assert (await log_in(platform, "alice")).status == 200
    change = {"password": PASSWORD, "new_password": "a better one altogether"}
    assert (await alice.patch("/users/@me", change, client=ELSEWHERE)).status == 200


async def test_a_thief_of_a_session_does_not_lock_the_owner_out(platform: Platform) -> None:
    alice = await register(platform)
    for _ in range(10):
        await alice.patch("/users/@me", {"password": "wrong", "new_password": "a better one altogether"})
    assert (await log_in(platform, "alice")).status == 200


async def test_a_known_network_has_a_count_of_its_own_and_no_more(platform: Platform) -> None:
    await register(platform)
    assert await wrong(platform, "alice", 11, client=HOME) == [400] * 10 + [429]
    assert (await log_in(platform, "alice", client=ELSEWHERE)).status == 200


async def test_all_devices_of_an_account_together_have_a_count(platform: Platform) -> None:
    alice = await register(platform)
    async with platform.database.transaction() as tx:
        for number in range(6):
            await upsert_known(tx, alice.id, f"198.51.100.{number}", Timestamp.now())
    statuses = [
        status for number in range(6) for status in await wrong(platform, "alice", 10, client=f"198.51.100.{number}")
    ]
    assert statuses == [400] * 50 + [429] * 10


async def test_the_owners_success_gives_strangers_no_more_guesses(platform: Platform) -> None:
    await register(platform)
    await wrong(platform, "alice", 9)
    assert (await log_in(platform, "alice")).status == 200
    assert await wrong(platform, "alice", 3) == [400, 429, 429]


async def test_a_name_and_its_address_are_one_count(platform: Platform, passwords: CountingPasswords) -> None:
    await register(platform, email="alice@example.org")
    await wrong(platform, "alice", 6, client=STRANGE)
    await wrong(platform, "ALICE@example.org", 6, client=ELSEWHERE)
    assert passwords.count == 10
    assert (await log_in(platform, "alice@example.org", client="203.0.113.200")).status == 400
    assert passwords.count == 10


async def test_exhausting_a_name_does_not_tell_its_address(platform: Platform) -> None:
    await register(platform, email="alice@example.org")
    await wrong(platform, "alice", 11)

    async def answers(login: str) -> list[tuple[int, Any]]:
        replies = [await log_in(platform, login, client=ELSEWHERE) for _ in range(11)]
        return [(reply.status, {**reply.json, "retry_after": None}) for reply in replies]

    assert await answers("alice@example.org") == await answers("nobody@example.org")


async def test_a_name_without_an_account_is_counted_like_one_with(platform: Platform) -> None:
    await register(platform)
    assert await wrong(platform, "nobody", 12) == await wrong(platform, "alice", 12)


async def test_a_network_that_tries_one_password_on_many_accounts_is_refused(platform: Platform) -> None:
    statuses = [status for number in range(52) for status in await wrong(platform, f"person{number}", 1)]
    assert statuses == [400] * 50 + [429] * 2
    assert await wrong(platform, "person51", 1, client=ELSEWHERE) == [400]


async def test_a_password_that_could_not_be_tried_is_not_counted(platform: Platform) -> None:
    await register(platform)
    platform.services.passwords = Passwords(max_waiting=0)
    assert await wrong(platform, "alice", 12) == [503] * 12
    platform.services.passwords = Passwords()
    assert await wrong(platform, "alice", 1) == [400]


async def test_where_the_owner_logged_in_from_is_known_after_a_restart(platform: Platform, database: Database) -> None:
    await register(platform)
    again = Platform(database)
    await wrong(again, "alice", 10)
    assert (await log_in(again, "alice", client=ELSEWHERE)).status == 429
    assert (await log_in(again, "alice")).status == 200
    await again.close()


async def test_of_very_many_networks_the_latest_are_remembered(platform: Platform) -> None:
    alice = await platform.person()
    async with platform.database.transaction() as tx:
        for number in range(MAX_KNOWN_NETWORKS + 8):
            await upsert_known(tx, alice.id, f"192.0.2.{number}", Timestamp(1_700_000_000_000 + number))
    async with platform.database.read() as reader:
        assert await reader.scalar(Query(select(func.count()).select_from(known_networks))) == MAX_KNOWN_NETWORKS
        assert not await is_known(reader, alice.id, "192.0.2.7")
        assert await is_known(reader, alice.id, "192.0.2.8")
