"""Members as JSON that was encoded for an earlier request."""

import asyncio

from moothall.objects.wire import Timestamp, encode
from moothall.resources.member.encoded import EncodedMembers, encode_members
from moothall.resources.member.queries import member_objects, select_members_after, update_member
from moothall.resources.user.queries import update_user
from tests.support.harness import Caller, Guild, Platform


async def _names(guild: Guild, caller: Caller) -> list[tuple[str, str | None]]:
    listed = (await caller.get(f"/guilds/{guild.id}/members", limit=1000)).json
    searched = (await caller.get(f"/guilds/{guild.id}/members/search", query="bob", limit=10)).json
    for member in (*listed, *searched):
        assert (await caller.get(f"/guilds/{guild.id}/members/{member['user']['id']}")).json == member
    assert [m for m in listed if m["user"]["username"].startswith("bob")] == searched
    return [(member["user"]["username"], member["nick"]) for member in listed]


async def test_every_change_of_a_member_is_in_the_next_list(platform: Platform) -> None:
    guild, bob = await platform.guild(await platform.person("owner")), await platform.person("bobby")
    assert await _names(guild, guild.owner) == [("owner", None)]
    await guild.join(bob)
    assert await _names(guild, guild.owner) == [("owner", None), ("bobby", None)]
    path = f"/guilds/{guild.id}/members/{bob.id}"
    assert (await guild.owner.patch(path, {"nick": "B"})).status == 200
    assert await _names(guild, guild.owner) == [("owner", None), ("bobby", "B")]
    assert (await bob.patch("/users/@me", {"global_name": "Robert"})).status == 200
    assert (await guild.owner.get(path)).json["user"]["global_name"] == "Robert"
    role = await guild.role(name="plain")
    assert (await guild.owner.put(f"{path}/roles/{role}")).status == 204
    assert (await guild.owner.get(path)).json["roles"] == [str(role)]
    assert (await guild.owner.delete(f"/guilds/{guild.id}/roles/{role}")).status == 204
    assert (await guild.owner.get(path)).json["roles"] == []
    assert (await guild.owner.put(f"/guilds/{guild.id}/bans/{bob.id}", {})).status == 204
    assert await _names(guild, guild.owner) == [("owner", None)]
    assert (await guild.owner.get(path)).code == 10007


async def test_a_list_in_slices_is_the_list_as_a_whole(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    for number in range(450):
        await guild.join(await platform.person(f"member{number}"))
    async with platform.database.read() as reader:
        rows = await select_members_after(reader, guild.id, guild.owner.id, 1000)
        assert len(rows) == 450
        assert await encode_members(reader, rows) == encode(await member_objects(reader, rows))
        assert await encode_members(reader, []) == b"[]"


async def test_what_is_read_during_a_change_is_not_kept(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    cache, now = EncodedMembers(platform.database), Timestamp.now()
    going_on = asyncio.Event()

    async def read_slowly() -> bytes:
        await going_on.wait()
        return b"before"

    async def read() -> bytes:
        return b"after"

    async with platform.database.read() as reader:
        slow = asyncio.create_task(cache.get(reader, "key", now, read_slowly))
        await asyncio.sleep(0)
        async with platform.database.transaction() as tx:
            await update_member(tx, guild.id, guild.owner.id, nick="new")
        # Where nothing is kept, it waits for the other one, and is read after it.
        later = asyncio.create_task(cache.get(reader, "key", now, read))
        await asyncio.sleep(0)
        going_on.set()
        assert await slow == b"before"
        assert await later == b"after"
        assert await cache.get(reader, "key", now, read) == b"after"


async def test_what_is_kept_is_forgotten_with_any_user(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    cache, now, reads = EncodedMembers(platform.database), Timestamp.now(), list[int]()

    async def read() -> bytes:
        reads.append(1)
        return b"x" * 5_000_000

    async with platform.database.read() as reader:
        for key in (1, 1, 2, 2):
            await cache.get(reader, key, now, read)
        kept = platform.database.dialect == "sqlite"
        assert len(reads) == (2 if kept else 4)
        async with platform.database.transaction() as tx:
            await update_user(tx, guild.owner.id, bio="new")
        reads.clear()
        for key in (1, 2, 3, 4, 2, 1):
            await cache.get(reader, key, now, read)
        assert len(reads) == (5 if kept else 6)  # four are more than the limit
        await cache.get(reader, 1, Timestamp(now + 2_000), read)
        assert len(reads) == (6 if kept else 7)
