"""The voice process goes on with anything that arrives: an exception would be one of the loop that serves all rooms."""

from tests.voice.fuzzing import browser_datagrams, datagrams, mls_messages


async def test_damaged_datagrams_are_dropped_and_the_others_passed_on() -> None:
    forwarded, dropped = await datagrams(20_000)
    assert forwarded > 1_000
    assert dropped > 5_000


async def test_damaged_messages_of_mls_are_refused_and_raise_nothing_else() -> None:
    assert await mls_messages(2_000) > 500


async def test_damaged_datagrams_of_browsers_are_dropped_and_the_others_passed_on() -> None:
    forwarded, dropped = await browser_datagrams(10_000)
    assert forwarded > 1_000
    assert dropped > 3_000
