"""What authority rests on is remembered, and never outlives a change."""

import asyncio
from itertools import count

import pytest
from sqlalchemy import bindparam, update

from moothall.api.outbox import OutboxRelay, leave_events, until_relayed
from moothall.objects.ids import GuildId
from moothall.resources.member.events import GuildOpen
from moothall.runtime import turns
from moothall.storage.database import Query
from moothall.storage.schema import members
from tests.support.harness import Platform

_leave = Query(update(members).where(members.c.user_id == bindparam("leaver")).values(guild_id=0))


async def test_someone_who_has_left_is_an_outsider_at_the_next_request(platform: Platform) -> None:
    guild, bob = await platform.guild(await platform.person()), await platform.person()
    await guild.join(bob)
    assert (await bob.get(f"/guilds/{guild.id}")).status == 200
    async with platform.database.transaction() as tx:
        await tx.execute(_leave, leaver=bob.id)
    assert (await bob.get(f"/guilds/{guild.id}")).code == 10004
    await guild.join(bob)
    assert (await bob.get(f"/guilds/{guild.id}")).status == 200


async def test_a_new_name_of_the_guild_is_seen_at_the_next_request(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    for name in ("one", "two", "three"):
        await guild.set(name=name)
        assert (await guild.owner.get(f"/guilds/{guild.id}")).json["name"] == name


async def test_what_another_process_did_is_seen_once_its_events_are_taken(platform: Platform) -> None:
    taken: list[bool] = []
    relay = OutboxRelay(platform.database, platform.bus, on_relayed=lambda: taken.append(True))
    async with platform.database.transaction() as tx:
        await leave_events(
            tx, [GuildOpen(user_id=platform.anonymous.id, guild_id=GuildId(platform.ids.next())).envelope()]
        )
    assert not await until_relayed(platform.database, seconds=0.0)
    assert await relay.relay() == 1
    assert taken == [True]
    assert await until_relayed(platform.database, seconds=0.0)


async def test_channels_that_are_loaded_in_pieces_by_two_requests_at_once_are_the_same(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    guild = await platform.guild(await platform.person())
    ids = {guild.general, *[await guild.channel() for _ in range(110)]}
    # Each look at the clock is later by the time that a turn has.
    monkeypatch.setattr(turns, "stopwatch", count(0.0, turns.TURN_SECONDS).__next__)
    async with platform.database.read() as reader, platform.database.read() as other:
        state = await platform.services.states.load(reader, guild.id)
        assert state is not None
        first, second = await asyncio.gather(state.channels(reader), state.channels(other))
    assert first is second
    assert set(first) == ids
