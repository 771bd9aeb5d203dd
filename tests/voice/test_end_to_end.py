"""End-to-end encryption: all in a room agree on a group as members come and go, and the server has no key of it."""

import asyncio

from tests.voice.client import SOON
from tests.voice.conftest import Hall
from tests.voice.encrypted import Encrypted


async def agreed(*members: Encrypted) -> None:
    """Wait until these members, and no others, are in one group, and each hears each."""
    async with asyncio.timeout(SOON):
        while not all(each.is_ready for each in members) or len({each.authenticator for each in members}) > 1:  # noqa: ASYNC110 the library tells no event
            await asyncio.sleep(0.02)
    assert [each.failures for each in members] == [[] for _ in members]
    for speaker in members:
        for listener in members:
            if listener is not speaker:
                await hears(listener, speaker, b"%d to %d" % (speaker.user_id, listener.user_id))


async def hears(listener: Encrypted, speaker: Encrypted, opus: bytes) -> None:
    """Say a frame, and hear it; on its way it is not readable."""
    frame = speaker.encrypt(opus)
    assert opus not in frame
    speaker.voice.say(frame)
    async with asyncio.timeout(SOON):
        while (heard := await listener.voice.hear()) != (speaker.voice.ready["ssrc"], frame):
            assert heard is not None
    assert listener.decrypt(speaker, frame) == opus


async def test_the_members_of_a_room_are_in_one_group_as_they_come_and_go(hall: Hall) -> None:
    alice = await Encrypted.join(hall, await hall.member())
    assert alice.version == 1
    bob = await Encrypted.join(hall, await hall.member())
    await agreed(alice, bob)
    before = alice.authenticator
    carol = await Encrypted.join(hall, await hall.member())
    await agreed(alice, bob, carol)
    assert alice.authenticator != before

    await bob.gateway.join(hall.guild_id, None)
    await bob.voice.closed()
    dave = await Encrypted.join(hall, await hall.member())
    await agreed(alice, carol, dave)

    for each in (carol, alice):
        await each.gateway.join(hall.guild_id, None)
        await each.voice.closed()
    # The one who is left begins anew, and is found by the next.
    await dave.voice.message(24)
    erin = await Encrypted.join(hall, await hall.member())
    await agreed(dave, erin)


async def test_members_who_come_at_once_agree(hall: Hall) -> None:
    gateways = [await hall.member() for _ in range(6)]
    members = await asyncio.gather(*(Encrypted.join(hall, gateway) for gateway in gateways))
    await agreed(*members)


async def test_a_room_goes_on_in_the_open_while_someone_cannot_encrypt(hall: Hall) -> None:
    alice = await Encrypted.join(hall, await hall.member())
    bob = await Encrypted.join(hall, await hall.member())
    await agreed(alice, bob)

    old = await Encrypted.join(hall, await hall.member(), dave=0)

    assert old.voice.description["dave_protocol_version"] == 0
    async with asyncio.timeout(SOON):
        while alice.version or bob.version:  # noqa: ASYNC110 the library tells no event
            await asyncio.sleep(0.02)
    late = await Encrypted.join(hall, await hall.member())
    assert late.version == 0
    await old.gateway.join(hall.guild_id, None)
    await agreed(alice, bob, late)


async def test_a_client_that_cannot_follow_is_removed_and_added_again(hall: Hall) -> None:
    alice = await Encrypted.join(hall, await hall.member())
    bob = await Encrypted.join(hall, await hall.member())
    carol = await Encrypted.join(hall, await hall.member())
    await agreed(alice, bob, carol)
    before = alice.authenticator

    await carol.voice.send(31, {"transition_id": 1})
    await carol._begin()

    async with asyncio.timeout(SOON):
        while alice.authenticator == before:  # noqa: ASYNC110 the library tells no event
            await asyncio.sleep(0.02)
    await agreed(alice, bob, carol)


async def test_a_key_package_of_another_user_or_none_closes_the_connection(hall: Hall) -> None:
    alice = await Encrypted.join(hall, await hall.member())
    bob = await Encrypted.join(hall, await hall.member())
    package = alice.session.get_serialized_key_package()
    await bob._send(26, package)
    assert await bob.voice.closed() == 4020
    await alice._send(28, package[:50])
    assert await alice.voice.closed() == 4020
