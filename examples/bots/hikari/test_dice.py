"""Tests of the dice bot."""

import re

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
