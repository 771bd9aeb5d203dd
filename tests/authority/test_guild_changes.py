"""The list of a guild's last changes, and states made from it."""

import contextlib

from sqlalchemy import bindparam, select, update

from moothall.authority.guild_changes import MAX_TEXT, GuildChange, GuildPart, change_line, changes_between
from moothall.authority.guild_state import GuildState
from moothall.authority.guild_states import GuildStates
from moothall.objects.ids import RoleId, Snowflake
from moothall.storage.database import Query
from moothall.storage.schema import guilds, roles
from tests.support.compared_states import assert_equal_to_stored
from tests.support.harness import Guild, Platform

_set_version = Query(
    update(guilds).where(guilds.c.id == bindparam("guild_id")).values(version=bindparam("new_version"))
)
_rename_role = Query(update(roles).where(roles.c.id == bindparam("role_id")).values(name=bindparam("new_name")))
_select_changes = Query(select(guilds.c.recent_changes).where(guilds.c.id == bindparam("guild_id")))


def _role(number: int) -> GuildChange:
    return GuildChange(GuildPart.ROLE, number)


def _text(*steps: tuple[int, int, list[GuildChange]]) -> str:
    return "".join(f"\n{before}{change_line(after, changes)}" for before, after, changes in steps)


def test_the_changes_of_several_versions_add_up() -> None:
    text = _text((1, 5, [_role(7)]), (5, 9, [_role(8), GuildChange(GuildPart.EMOJIS)]))
    assert changes_between(text, 1, 9) == {_role(7), _role(8), GuildChange(GuildPart.EMOJIS)}
    assert changes_between(text, 5, 9) == {_role(8), GuildChange(GuildPart.EMOJIS)}
    assert changes_between(text, 1, 5) == {_role(7)}
    assert changes_between(text, 9, 9) == set()


def test_a_missing_step_is_noticed() -> None:
    text = _text((1, 5, [_role(7)]), (6, 9, [_role(8)]))
    assert changes_between(text, 1, 9) is None
    assert changes_between(text, 6, 10) is None
    assert changes_between(text, 3, 9) is None
    assert changes_between("", 1, 2) is None


def test_a_line_without_its_beginning_is_ignored() -> None:
    text = _text((11, 5, [_role(7)]), (5, 9, [_role(8)]))[2:]
    assert changes_between(text, 1, 9) is None
    assert changes_between(text, 5, 9) == {_role(8)}


def test_a_change_of_many_rows_lets_the_state_be_loaded_whole() -> None:
    text = _text((1, 5, [_role(number) for number in range(200)]))
    assert changes_between(text, 1, 5) is None
    assert len(text) < 20


async def _state(platform: Platform, states: GuildStates, guild: Guild) -> GuildState:
    async with platform.database.read() as reader:
        state = await states.state(reader, guild.id)
        assert state is not None
        await assert_equal_to_stored(reader, states, state)
        return state


async def test_a_new_version_shares_what_has_not_changed(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    first, second = [RoleId(Snowflake(await guild.role(name=name))) for name in ("one", "two")]
    states = platform.services.states
    before = await _state(platform, states, guild)
    reply = await guild.owner.patch(f"/guilds/{guild.id}/roles/{first}", {"name": "other"})
    assert reply.status == 200
    after = await _state(platform, states, guild)
    assert after.version != before.version
    assert (before.roles[first].name, after.roles[first].name) == ("one", "other")
    assert after.roles[second] is before.roles[second]
    assert after.emojis is before.emojis


async def test_a_ban_makes_no_new_version(platform: Platform) -> None:
    guild, bob = await platform.guild(await platform.person()), await platform.person()
    await guild.join(bob)
    before = await _state(platform, platform.services.states, guild)
    assert (await guild.owner.put(f"/guilds/{guild.id}/bans/{bob.id}", {})).status == 204
    assert await _state(platform, platform.services.states, guild) is before


async def test_another_process_reads_only_the_changed_rows(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    role, kept = [RoleId(Snowflake(await guild.role(name=name))) for name in ("one", "kept")]
    other = GuildStates(platform.database)
    before = await _state(platform, other, guild)
    for name in ("two", "three"):
        await guild.owner.patch(f"/guilds/{guild.id}/roles/{role}", {"name": name})
    after = await _state(platform, other, guild)
    assert after.roles[role].name == "three"
    assert after.roles[kept] is before.roles[kept]


async def test_another_process_that_missed_a_step_loads_the_guild_whole(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    role, kept = [RoleId(Snowflake(await guild.role(name=name))) for name in ("one", "kept")]
    other = GuildStates(platform.database)
    before = await _state(platform, other, guild)
    await guild.owner.patch(f"/guilds/{guild.id}/roles/{role}", {"name": "two"})
    async with platform.database.transaction() as tx:
        await tx.execute(_set_version, guild_id=guild.id, new_version=platform.ids.next())
    await guild.owner.patch(f"/guilds/{guild.id}/roles/{role}", {"name": "three"})
    after = await _state(platform, other, guild)
    assert after.roles[role].name == "three"
    assert after.roles[kept] is not before.roles[kept]


async def test_the_list_of_changes_stays_short(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    role = await guild.role(name="one")
    other = GuildStates(platform.database)
    for number in range(60):
        await guild.owner.patch(f"/guilds/{guild.id}/roles/{role}", {"name": f"name {number}"})
        if number % 20 == 0:
            await _state(platform, other, guild)
    async with platform.database.read() as reader:
        listed = (await reader.all(_select_changes, guild_id=guild.id))[0][0]
    assert MAX_TEXT - 100 < len(listed) <= MAX_TEXT
    await _state(platform, other, guild)


async def test_a_refused_change_leaves_the_state(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    role = await guild.role(name="one")
    before = await _state(platform, platform.services.states, guild)
    reply = await guild.owner.patch(f"/guilds/{guild.id}/roles/{role}", {"name": "two", "icon": "?"})
    assert reply.status == 400
    assert await _state(platform, platform.services.states, guild) is before


async def test_what_a_transaction_has_loaded_before_it_writes_is_kept(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    states = platform.services.states
    states._states.clear()
    states._uncommitted.clear()
    assert (await guild.owner.put(f"/guilds/{guild.id}/bans/{(await platform.person()).id}", {})).status == 204
    loaded = states._states[guild.id]
    assert (await guild.owner.put(f"/guilds/{guild.id}/bans/{(await platform.person()).id}", {})).status == 204
    assert await _state(platform, states, guild) is loaded


async def test_what_a_transaction_has_loaded_after_it_wrote_ends_with_it(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    role = RoleId(Snowflake(await guild.role(name="one")))
    states = GuildStates(platform.database)
    with contextlib.suppress(LookupError):
        async with platform.database.transaction() as tx:
            await tx.execute(_rename_role, role_id=role, new_name="two")
            state = await states.state(tx, guild.id, writes=True)
            assert state is not None
            assert state.roles[role].name == "two"
            raise LookupError
    assert (await _state(platform, states, guild)).roles[role].name == "one"
