"""Tests of the lending library."""

import asyncio
import time

import pytest


@pytest.fixture
async def bot(moothall):
    return await moothall.start_bot("library:bot")


async def test_a_book_is_looked_up(alice, bot):
    await alice.runs("book", title="Emma").assert_replied("Emma is on the shelf.")
    await alice.runs("book", title="Ulysses").assert_replied("We do not have Ulysses.")


async def test_titles_are_completed(alice, bot):
    assert await alice.autocompletes("book", "title", title="m") == ["Middlemarch", "Momo"]


async def test_a_book_of_the_shelf_is_lent_to_one_person(alice, bob, bot):
    shelf = await alice.runs("shelf").awaits_reply()

    lent = await bob.chooses(shelf, "Momo").awaits_reply()

    assert lent.content == "Enjoy Momo!"
    assert lent.ephemeral


async def test_a_book_is_recommended_for_a_message(alice, bob, bot):
    message = await bob.says("I like deserts.")

    await alice.runs_on_message("Recommend", message).assert_replied("For bob: Dune")


async def test_it_answers_again_after_errors_and_waits_for_a_limit_that_others_use_up(moothall, alice, bot):
    route = "PATCH /webhooks/*/*/messages/@original"
    await moothall.fails("error", route, status=502)
    await moothall.rate_limits(route, retry_after=0.7, scope="shared")
    started = time.monotonic()

    await alice.runs("book", title="Emma").assert_replied("Emma is on the shelf.", within=20)

    assert time.monotonic() - started >= 0.7


async def test_it_resumes_a_lost_session_and_begins_anew_when_the_session_ends(moothall, alice, bot):
    await moothall.breaks_gateway("drop")
    await connected_again(moothall, "RESUME")
    await moothall.breaks_gateway("reconnect")
    await connected_again(moothall, "RESUME", after="RECONNECT")
    await moothall.breaks_gateway("invalid_session")
    await connected_again(moothall, "IDENTIFY")

    await alice.runs("shelf").awaits_reply(within=20)


async def connected_again(moothall, how, *, after="IDENTIFY"):
    """Wait until the last that the bot has sent to connect is a RESUME, or a second IDENTIFY."""
    async with asyncio.timeout(30):
        while True:
            names = [each["name"] for each in moothall.entries() if each["kind"] == "gateway" and each.get("bot")]
            if len(names) > 1 and names[-1] == how and after in names:
                return
            await asyncio.sleep(0.05)
