"""The events by which gateway nodes keep a guild are numbered, and its state is read together with the last number."""

import pytest

from moothall.authority.state_versions import select_state_version
from moothall.gateway.snapshot.database_source import DatabaseSource
from moothall.objects.ids import RoleId, Snowflake, UserId
from moothall.storage.database import StorageConflict
from tests.support.harness import Guild, Platform


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person())


async def last_number(platform: Platform, guild: Guild) -> int:
    async with platform.database.read() as reader:
        return await select_state_version(reader, guild.id)


async def test_events_of_a_guild_have_consecutive_numbers_and_refused_requests_have_none(
    platform: Platform, guild: Guild
) -> None:
    before = await last_number(platform, guild)
    owner, bob = guild.owner, await platform.person()
    await guild.join(bob)
    role = (await owner.post(f"/guilds/{guild.id}/roles", {"name": "role"})).json
    assert (await owner.post(f"/guilds/{guild.id}/roles", {"name": "x" * 200})).status == 400
    assert (await owner.put(f"/guilds/{guild.id}/members/{bob.id}/roles/{role['id']}")).status == 204
    thread = (await owner.post(f"/channels/{guild.general}/threads", {"name": "thread", "type": 11})).json
    await owner.post(f"/channels/{thread['id']}/messages", {"content": "not numbered"})
    await owner.delete(f"/channels/{thread['id']}")
    await owner.delete(f"/guilds/{guild.id}/members/{bob.id}")
    numbered = [(each.name, each.state_version) for each in platform.heard if each.state_version]
    assert [name for name, _ in numbered] == [
        "GUILD_ROLE_CREATE",
        "GUILD_MEMBER_UPDATE",
        "THREAD_CREATE",
        "THREAD_MEMBERS_UPDATE",
        "THREAD_DELETE",
        "GUILD_MEMBER_REMOVE",
    ]
    assert [number for _, number in numbered] == list(range(before + 1, before + 7))
    assert await last_number(platform, guild) == before + 6


async def test_a_change_of_a_user_is_numbered_in_each_of_their_guilds(platform: Platform, guild: Guild) -> None:
    other = await platform.guild(guild.owner)
    before = {each.id: await last_number(platform, each) for each in (guild, other)}
    await guild.owner.patch("/users/@me", {"global_name": "Other"})
    numbers = {each.guild_id: each.state_version for each in platform.heard if each.name == "GUILD_MEMBER_UPDATE"}
    assert numbers == {guild_id: number + 1 for guild_id, number in before.items()}


async def test_a_view_of_a_guild_that_changes_while_it_is_read_is_of_one_moment(
    platform: Platform, guild: Guild, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = platform.services.states
    read = type(states).state
    changes = 1

    async def state(*arguments: object, **options: object) -> object:
        nonlocal changes
        result = await read(*arguments, **options)  # type: ignore[arg-type]
        if changes:
            changes -= 1
            await guild.owner.post(f"/guilds/{guild.id}/roles", {"name": "role"})
        return result

    monkeypatch.setattr(type(states), "state", state)
    source = DatabaseSource(platform.database, states)
    view = await source.guild_view(guild.id)
    assert view is not None
    assert view.state_version == await last_number(platform, guild)
    assert len(view.roles) == 2
    changes = 100
    with pytest.raises(StorageConflict):
        await source.guild_view(guild.id)


async def test_a_member_is_read_with_the_number_of_the_last_event(platform: Platform, guild: Guild) -> None:
    role = (await guild.owner.post(f"/guilds/{guild.id}/roles", {"name": "role"})).json
    await guild.owner.put(f"/guilds/{guild.id}/members/{guild.owner.id}/roles/{role['id']}")
    source = DatabaseSource(platform.database, platform.services.states)
    member = await source.member_view(guild.id, UserId(guild.owner.id))
    assert member is not None
    assert member.state_version == await last_number(platform, guild)
    assert member.role_ids == (RoleId(Snowflake(int(role["id"]))),)
    assert await source.member_view(guild.id, UserId(Snowflake(1))) is None
