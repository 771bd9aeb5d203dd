"""Tests of the lending library."""

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
