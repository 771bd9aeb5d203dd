"""Tests of the dice bot."""

import asyncio
import re
import time

import pytest


@pytest.fixture
async def bot(moothall):
    return await moothall.start_bot("dice:bot")


async def test_dice_are_rolled(alice, bot):
    reply = await alice.runs("roll", sides=6, dice=3).awaits_reply()

    numbers, total = re.fullmatch(r"(.*) = (\d+)", reply.content).groups()
    assert len(numbers.split(", ")) == 3
    assert sum(map(int, numbers.split(", "))) == int(total)


async def test_a_die_has_two_sides_at_least(alice, bot):
    with pytest.raises(AssertionError, match="400"):
        await alice.runs("roll", sides=1)


async def test_new_members_are_greeted(moothall, alice, guild, bot):
    await alice.requests("PATCH", f"/guilds/{guild.id}", {"system_channel_id": guild.channels["general"]})
    carol = await moothall.create_person("carol", member=False)

    greeting = await carol.joins().awaits_reply(from_=bot)

    assert greeting.content == f"{carol.mention}, roll for initiative!"


async def test_a_mention_gets_a_die(bob, bot):
    assert await bob.says(f"{bot.mention} luck?").awaits_reaction() == "🎲"


async def test_it_resumes_after_a_lost_connection(moothall, alice, bot):
    await moothall.breaks_gateway("drop")

    await alice.runs("roll").awaits_reply(within=20)


async def test_it_sends_again_after_errors_and_waits_for_a_limit_that_others_use_up(moothall, bob, bot):
    route = "PUT /channels/*/messages/*/reactions/*/@me"
    await moothall.fails("error", route, status=503)
    await moothall.rate_limits(route, retry_after=0.7, scope="shared")
    started = time.monotonic()

    assert await bob.says(f"{bot.mention} luck?").awaits_reaction(within=20) == "🎲"

    assert time.monotonic() - started >= 0.7


async def test_it_resumes_when_told_to_and_begins_anew_when_its_session_ends(moothall, alice, bot):
    await moothall.breaks_gateway("reconnect")
    await connected_again(moothall, "RESUME")
    await moothall.breaks_gateway("invalid_session")
    await connected_again(moothall, "IDENTIFY")

    await alice.runs("roll").awaits_reply(within=20)


async def connected_again(moothall, how):
    """Wait until the last that the bot has sent to connect is a RESUME, or a second IDENTIFY."""
    async with asyncio.timeout(30):
        while True:
            names = [each["name"] for each in moothall.entries() if each["kind"] == "gateway" and each.get("bot")]
            if len(names) > 1 and names[-1] == how:
                return
            await asyncio.sleep(0.05)
