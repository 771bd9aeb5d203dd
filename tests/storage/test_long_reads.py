"""Long reads on both engines: who is charged, who is refused, and who waits for whom."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from sqlalchemy import func, insert, select

from moothall.objects.ids import GuildId, Snowflake, UserId
from moothall.resources.audit_log.queries import select_entries
from moothall.resources.guild.ban.queries import select_bans_after
from moothall.runtime.budgets import OverBudget, Payer
from moothall.storage.database import FEW_ROWS, Database, Query
from moothall.storage.engines import database_at
from moothall.storage.per_query_reader import PerQueryReader
from moothall.storage.schema import audit_entries, bans
from tests.support.harness import Platform

GUILD = GuildId(Snowflake(1))
NO_USER = UserId(Snowflake(0))
ALICE, BOB = Payer(1, "192.0.2.1"), Payer(2, "192.0.2.1")
_other, _third = bans.alias(), bans.alias()
SLOW = Query(
    select(func.count())
    .select_from(bans)
    .join(_other, _other.c.created_at == bans.c.created_at)
    .join(_third, (_third.c.created_at == bans.c.created_at) & (_third.c.user_id < 10))
)
"""Reads many times the square of the number of bans."""
COUNT = Query(select(func.count()).select_from(bans))


class Charges:
    """A meter that records what is charged and refuses some payers."""

    def __init__(self) -> None:
        self.charged: list[Payer] = []
        self.refused: set[Payer] = set()

    def check(self, payer: Payer) -> None:
        if payer in self.refused:
            raise OverBudget

    def charge_cpu(self, payer: Payer, seconds: float) -> None:
        assert seconds > 0
        self.charged.append(payer)


@pytest.fixture
def charges() -> Charges:
    return Charges()


@pytest.fixture
async def database(database_url: str, charges: Charges) -> AsyncIterator[Database]:
    opened = database_at(database_url, connections=8, meter=charges)
    await opened.open()
    async with opened.transaction(GUILD) as tx:
        rows = [{"guild_id": GUILD, "user_id": number, "reason": None, "created_at": 1} for number in range(1, 121)]
        await tx.execute_many(Query(insert(bans)), rows)
    yield opened
    await opened.close()


async def read_long(database: Database, payer: Payer) -> None:
    async with database.read(payer) as reader:
        assert await reader.all_long(COUNT) == [(120,)]


async def read_in_transaction(database: Database, payer: Payer) -> None:
    async with database.transaction(GUILD, payer=payer) as tx:
        assert await tx.all_long(COUNT) == [(120,)]


async def read_per_query(database: Database, payer: Payer) -> None:
    assert await PerQueryReader(database, payer).all_long(COUNT) == [(120,)]


@pytest.mark.parametrize("read", [read_long, read_in_transaction, read_per_query])
async def test_a_long_read_is_charged_to_its_payer_and_refused_over_the_budget(
    database: Database, charges: Charges, read: Callable[[Database, Payer], Awaitable[None]]
) -> None:
    await read(database, ALICE)
    assert charges.charged == [ALICE]
    charges.refused.add(ALICE)
    with pytest.raises(OverBudget):
        await read(database, ALICE)
    assert charges.charged == [ALICE]
    await read(database, BOB)
    assert charges.charged == [ALICE, BOB]


async def test_a_short_read_is_neither_charged_nor_refused(database: Database, charges: Charges) -> None:
    charges.refused.add(ALICE)
    async with database.read(ALICE) as reader:
        assert await reader.all(COUNT) == [(120,)]
        assert len(await select_bans_after(reader, GUILD, NO_USER, FEW_ROWS)) == FEW_ROWS
        assert await select_entries(reader, GUILD, maximum=100) == []
    assert charges.charged == []


async def test_long_lists_and_filters_without_an_index_are_long_reads(database: Database, charges: Charges) -> None:
    async with database.transaction(GUILD) as tx:
        row = {"guild_id": GUILD, "user_id": 1, "target_id": 2, "action_type": 3, "changes": [], "options": None}
        await tx.execute(Query(insert(audit_entries)), id=1, reason=None, **row)
    async with database.read(ALICE) as reader:
        assert len(await select_bans_after(reader, GUILD, NO_USER, FEW_ROWS + 1)) == FEW_ROWS + 1
        assert len(await select_entries(reader, GUILD, maximum=100, action_type=3)) == 1
        assert len(await select_entries(reader, GUILD, maximum=100, user_id=UserId(Snowflake(1)))) == 1
        assert len(await select_entries(reader, GUILD, maximum=100, target_id=Snowflake(2))) == 1
    assert charges.charged == [ALICE] * 4


async def test_the_long_reads_of_one_payer_run_one_after_another_and_others_do_not_wait_for_them(
    database: Database,
) -> None:
    ended: list[Payer] = []

    async def read(payer: Payer, number: int) -> None:
        # Another table of the same name, so that PostgreSQL does not share the reads.
        query = Query(select(func.count() + number).select_from(bans)) if payer is BOB else SLOW
        async with database.read(payer) as reader:
            await reader.all_long(query)
        ended.append(payer)

    async with asyncio.TaskGroup() as group:
        for number in range(6):
            group.create_task(read(ALICE, number))
        await asyncio.sleep(0)
        group.create_task(read(BOB, 0))
    assert ended.index(BOB) < 6
    assert ended[-1] is ALICE


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
async def test_a_refusal_of_who_pays_for_a_shared_read_does_not_reach_those_who_share_it(
    database: Database, charges: Charges
) -> None:
    async with asyncio.TaskGroup() as group:
        first = group.create_task(read_long(database, BOB))
        await asyncio.sleep(0)
        # These two share the next read, which Alice pays for until she is refused.
        alice = asyncio.create_task(read_long(database, ALICE))
        bob = group.create_task(read_long(database, BOB))
        await asyncio.sleep(0)
        charges.refused.add(ALICE)
    with pytest.raises(OverBudget):
        await alice
    assert first.done()
    assert bob.done()
    assert charges.charged == [BOB, BOB]


async def test_an_account_over_its_budget_gets_429_for_a_search_while_others_get_results(
    database: Database, charges: Charges
) -> None:
    platform = Platform(database)
    try:
        alice, bob = await platform.person("alice"), await platform.person("bob")
        guilds = {caller: await platform.guild(caller) for caller in (alice, bob)}
        charges.refused.add(Payer(int(alice.id), "192.0.2.1"))
        rows: dict[str, dict[str, Any]] = {
            "members": {"limit": 1000},
            "bans": {"limit": 1000},
            "audit-logs": {"action_type": 1},
            "prune": {},
        }
        for path, query in rows.items():
            responses = [
                await caller.request("GET", f"/guilds/{guild.id}/{path}", client="192.0.2.1", **query)
                for caller, guild in guilds.items()
            ]
            assert [response.status for response in responses] == [429, 200], path
            assert int(responses[0].headers["retry-after"]) > 0
            assert responses[0].json["retry_after"] > 0
        assert (await alice.request("GET", f"/guilds/{guilds[alice].id}/members", client="192.0.2.1")).status == 200
    finally:
        await platform.close()
