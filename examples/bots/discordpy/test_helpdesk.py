"""Tests of the help desk: everything it does, as members see it."""

import pytest

from moothall_testing import RefusedError


@pytest.fixture
async def bot(moothall):
    return await moothall.start_bot("helpdesk:client")


async def test_it_answers_a_ping(alice, bot):
    reply = await alice.says("!ping").awaits_reply(from_=bot)

    assert reply.content == "pong"


async def test_a_ticket_is_a_thread_that_staff_can_close(alice, bob, bot):
    form = await bob.runs("ticket").awaits_modal()
    assert form.fields == ["subject", "details"]

    answer = await bob.submits(form, subject="Lost key", details="It was blue.").awaits_reply()

    assert answer.ephemeral
    thread = answer.content.partition("<#")[2].partition(">")[0]
    (opening,) = [each for each in await bob.in_channel(thread).messages() if each.buttons]
    assert "It was blue." in opening.content
    refused = await bob.in_channel(thread).clicks(opening, "Close").awaits_reply()
    assert refused.content == "Only staff can close tickets."
    closed = await alice.in_channel(thread).clicks(opening, "Close").awaits_edit(opening)
    assert closed.content == f"Closed by {alice.mention}."


async def test_a_quiet_member_may_speak_again_when_the_time_is_over(moothall, alice, bob, bot):
    await alice.runs("quiet", member=bob, minutes=30).assert_replied("Bob is quiet for 30 minutes.")
    with pytest.raises(RefusedError):
        await bob.says("But!")

    await moothall.advance(minutes=31)

    await bob.says("At last.")


async def test_members_cannot_quiet_others(alice, bob, bot):
    with pytest.raises(AssertionError, match="no command quiet"):
        await bob.runs("quiet", member=alice)


async def test_it_survives_a_rate_limit_and_a_lost_connection(moothall, alice, bot):
    await moothall.rate_limits("POST /channels/*/messages", retry_after=0.3)
    await alice.says("!ping").assert_replied("pong")
    await moothall.breaks_gateway("drop")
    await alice.says("!ping").assert_replied("pong", within=20)
