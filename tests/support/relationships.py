"""Friends."""

from tests.support.harness import Caller

WHERE = "/users/@me/relationships"


async def befriend(one: Caller, other: Caller) -> None:
    """Make two users friends."""
    assert (await one.put(f"{WHERE}/{other.id}", {})).status == 204
    assert (await other.put(f"{WHERE}/{one.id}", {"type": 1})).status == 204
