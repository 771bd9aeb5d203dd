"""Joining and leaving a guild."""

import asyncio

import pytest

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.guild import SystemChannelFlags
from moothall.objects.ids import UserId
from moothall.objects.member import MemberFlags
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.resources.guild.membership.operations import (
    join_guild,
    leave_if_temporary,
    remove_member,
    remove_members,
)
from moothall.resources.member import queries
from moothall.resources.user.queries import get_user, get_users, select_user
from moothall.resources.voice.queries import get_voice_state, upsert_voice_state
from moothall.storage.database import Query, insert_ignore
from moothall.storage.rows import MemberRow
from moothall.storage.sql import bindparam, insert, select
from moothall.storage.tables import bans, channels, thread_members
from tests.support.harness import VOICE, Caller, Guild, Platform
from tests.support.memberships import join, voice_row

_join_thread = Query(insert(thread_members))
_select_thread = Query(select(thread_members.c.user_id).where(thread_members.c.thread_id == bindparam("thread_id")))
_select_size = Query(select(channels.c.member_count).where(channels.c.id == bindparam("thread_id")))
_insert_ban = Query(insert_ignore(bans, key=("guild_id", "user_id")))


async def leave(platform: Platform, guild: Guild, who: Caller) -> bool:
    async def work(ctx: Context) -> bool:
        user = await get_user(ctx.tx, who.id)
        assert user is not None
        return await remove_member(ctx, guild.id, user)

    return await unit_of_work.run(platform.services, ANONYMOUS, work)


async def remove_all(platform: Platform, guild: Guild, *who: Caller) -> None:
    """Remove several members at once, as a prune does."""

    async def work(ctx: Context) -> None:
        rows = await queries.get_members(ctx.tx, guild.id, [each.id for each in who])
        await remove_members(ctx, guild.id, list(rows.values()), await get_users(ctx.tx, [each.id for each in who]))

    await unit_of_work.run(platform.services, ANONYMOUS, work)


async def ban(platform: Platform, guild: Guild, user_id: UserId) -> None:
    async with platform.database.transaction() as tx:
        await tx.execute(_insert_ban, guild_id=guild.id, user_id=user_id, reason=None, created_at=Timestamp.now())


async def count(platform: Platform, guild: Guild) -> int:
    async with platform.database.read() as reader:
        return await queries.count_members(reader, guild.id)


async def test_a_newcomer_is_counted_and_announced(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bob = await platform.person("bob")
    with platform.listening() as heard:
        row = await join(platform, guild, bob, nick="Bobby")
    assert heard == ["GUILD_MEMBER_ADD"]
    assert await count(platform, guild) == 2
    data = platform.heard_data("GUILD_MEMBER_ADD")[-1]
    assert data["user"]["id"] == str(int(bob.id))
    assert data["guild_id"] == str(int(guild.id))
    assert (data["nick"], data["pending"], data["flags"]) == ("Bobby", False, 0)
    assert row.nick_key == "bobby"


async def test_joining_again_changes_nothing(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bob = await platform.person()
    first = await join(platform, guild, bob)
    with platform.listening() as heard:
        again = await join(platform, guild, bob, nick="other")
    assert (heard, again) == ([], first)
    assert await count(platform, guild) == 2


async def test_a_banned_user_cannot_join_and_is_not_counted(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bob = await platform.person()
    await ban(platform, guild, bob.id)
    with pytest.raises(Refusal) as refused:
        await join(platform, guild, bob)
    assert refused.value.kind is errors.USER_BANNED
    assert await count(platform, guild) == 1


async def test_a_full_guild_refuses_new_members(platform: Platform) -> None:
    guild = await platform.guild(await platform.person(), max_members=2)
    await join(platform, guild, await platform.person())
    with pytest.raises(Refusal) as refused:
        await join(platform, guild, await platform.person())
    assert refused.value.kind is errors.TOO_MANY_MEMBERS
    assert await count(platform, guild) == 2


async def test_concurrent_joins_do_not_exceed_the_maximum_of_members(platform: Platform) -> None:
    guild = await platform.guild(await platform.person(), max_members=3)
    people = [await platform.person() for _ in range(8)]
    results = await asyncio.gather(*(join(platform, guild, p) for p in people), return_exceptions=True)
    assert sum(isinstance(r, MemberRow) for r in results) == 2
    assert await count(platform, guild) == 3


async def test_a_user_who_joins_twice_at_once_is_counted_once(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bob = await platform.person()
    with platform.listening() as heard:
        await asyncio.gather(*(join(platform, guild, bob) for _ in range(6)))
    assert heard == ["GUILD_MEMBER_ADD"]
    assert await count(platform, guild) == 2


@pytest.mark.parametrize("way", ["leave", "kick", "prune", "ban"])
async def test_a_rejoiner_is_still_timed_out_muted_and_deafened(platform: Platform, way: str) -> None:
    owner, bob = await platform.person(), await platform.person("bob")
    guild = await platform.guild(owner)
    await join(platform, guild, bob, nick="Bobby", roles=[await guild.role(permissions=Permissions.MANAGE_MESSAGES)])
    until = Timestamp(Timestamp.now() + 3_600_000)
    path = f"/guilds/{guild.id}/members/{bob.id}"
    assert (await owner.patch(path, {"communication_disabled_until": until.wire()})).status == 200
    async with platform.database.transaction() as tx:
        await queries.update_member(tx, guild.id, bob.id, mute=True, deaf=True, flags=MemberFlags.BYPASSES_VERIFICATION)
    match way:
        case "leave":
            assert (await bob.delete(f"/users/@me/guilds/{guild.id}")).status == 204
        case "kick":
            assert (await owner.delete(path)).status == 204
        case "prune":
            await remove_all(platform, guild, bob)
        case _:
            assert (await owner.put(f"/guilds/{guild.id}/bans/{bob.id}", {})).status == 204
            assert (await owner.delete(f"/guilds/{guild.id}/bans/{bob.id}")).status == 204
    platform.heard.clear()
    await join(platform, guild, bob)
    [added] = platform.heard_data("GUILD_MEMBER_ADD")
    assert Timestamp.from_wire(added["communication_disabled_until"]) == until
    assert (added["mute"], added["deaf"], added["roles"], added["nick"]) == (True, True, [], None)
    assert added["flags"] == MemberFlags.DID_REJOIN
    assert (await bob.post(f"/channels/{guild.general}/messages", {"content": "x"})).code == 50013
    await leave(platform, guild, bob)
    assert (await join(platform, guild, bob)).communication_disabled_until == until
    assert (await owner.patch(path, {"communication_disabled_until": None})).status == 200
    await leave(platform, guild, bob)
    assert (await join(platform, guild, bob)).communication_disabled_until is None


async def test_a_timeout_that_ended_meanwhile_does_not_come_back(platform: Platform) -> None:
    owner, bob = await platform.person(), await platform.person("bob")
    guild = await platform.guild(owner)
    await guild.join(bob)
    async with platform.database.transaction() as tx:
        past = Timestamp(Timestamp.now() - 1)
        await queries.update_member(tx, guild.id, bob.id, communication_disabled_until=past)
    await leave(platform, guild, bob)
    assert (await join(platform, guild, bob)).communication_disabled_until is None


async def test_a_bot_does_not_unmute_whom_it_adds_again(platform: Platform) -> None:
    owner, bob = await platform.person(), await platform.person("bob")
    guild, bot = await platform.guild(owner), await platform.bot(owner)
    await guild.join(bot, bob)
    assert bot.application_id is not None
    async with platform.database.transaction() as tx:
        await queries.update_member(tx, guild.id, bob.id, mute=True)
    await leave(platform, guild, bob)
    token = (await platform.bearer(bob, bot.application_id, "guilds.join")).token
    added = await bot.put(f"/guilds/{guild.id}/members/{bob.id}", {"access_token": token, "deaf": False})
    assert (added.status, added.json["mute"], added.json["deaf"]) == (201, True, False)


async def test_rejoining_sets_a_flag(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bob = await platform.person()
    await join(platform, guild, bob)
    assert await leave(platform, guild, bob)
    row = await join(platform, guild, bob)
    assert row.flags == MemberFlags.DID_REJOIN


async def test_an_outsider_cannot_be_removed(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    with platform.listening() as heard:
        assert not await leave(platform, guild, await platform.person())
    assert heard == []
    assert await count(platform, guild) == 1


async def test_a_leaving_member_leaves_voice_first(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bob = await platform.person()
    await guild.join(bob)
    channel = await guild.channel(type=VOICE)
    async with platform.database.transaction() as tx:
        await upsert_voice_state(tx, voice_row(guild, bob, channel))
    with platform.listening() as heard:
        await leave(platform, guild, bob)
    assert heard == ["VOICE_STATE_UPDATE", "VOICE_CHANNEL_START_TIME_UPDATE", "GUILD_MEMBER_REMOVE"]
    state = platform.heard_data("VOICE_STATE_UPDATE")[-1]
    assert state["channel_id"] is None
    assert state["member"]["user"]["id"] == state["user_id"] == str(int(bob.id))
    async with platform.database.read() as reader:
        assert await get_voice_state(reader, guild.id, bob.id) is None


async def test_a_refused_operation_outside_http_changes_and_emits_nothing(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bob = await platform.person()

    async def work(ctx: Context) -> None:
        state = await platform.services.states.state(ctx.tx, guild.id, writes=True)
        user = await select_user(ctx.tx, bob.id)
        assert state is not None
        assert user is not None
        await join_guild(ctx, state, user)
        raise Refusal(errors.MISSING_ACCESS)

    with platform.listening() as heard, pytest.raises(Refusal):
        await unit_of_work.run(platform.services, ANONYMOUS, work, lock=guild.id)
    assert heard == []
    assert await count(platform, guild) == 1


async def test_a_join_message_is_posted_in_the_system_channel(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    await guild.set(system_channel_id=guild.general)
    bob = await platform.person()
    with platform.listening() as heard:
        await join(platform, guild, bob)
    assert heard == ["GUILD_MEMBER_ADD", "MESSAGE_CREATE"]
    message = platform.heard_data("MESSAGE_CREATE")[-1]
    assert (message["type"], message["author"]["id"]) == (7, str(int(bob.id)))
    assert message["channel_id"] == str(int(guild.general))


async def test_a_guild_can_suppress_join_messages(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    await guild.set(
        system_channel_id=guild.general, system_channel_flags=SystemChannelFlags.SUPPRESS_JOIN_NOTIFICATIONS
    )
    with platform.listening() as heard:
        await join(platform, guild, await platform.person())
    assert heard == ["GUILD_MEMBER_ADD"]


async def test_temporary_members_leave_with_their_last_session_unless_given_a_role(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    role = await guild.role()
    visitor, kept, resident = [await platform.person() for _ in range(3)]
    await join(platform, guild, visitor, temporary=True)
    await join(platform, guild, kept, temporary=True)
    await join(platform, guild, resident)
    assert (await guild.owner.put(f"/guilds/{guild.id}/members/{kept.id}/roles/{role}")).status == 204
    assert (await guild.owner.delete(f"/guilds/{guild.id}/members/{kept.id}/roles/{role}")).status == 204
    platform.presences.connected.add(visitor.id)
    with platform.listening() as heard:
        await leave_if_temporary(platform.services, visitor.id)
    assert heard == []
    platform.presences.connected.clear()
    with platform.listening() as heard:
        for person in (visitor, kept, resident):
            await leave_if_temporary(platform.services, person.id)
    assert heard == ["GUILD_MEMBER_REMOVE"]
    assert await count(platform, guild) == 3


async def test_leaving_members_leave_their_threads(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bob, eve = await platform.person(), await platform.person()
    await guild.join(bob, eve)
    now = Timestamp.now()
    thread = await guild.channel(type=11, parent_id=guild.general, member_count=2)
    async with platform.database.transaction() as tx:
        for person in (bob, eve):
            await tx.execute(_join_thread, thread_id=thread, user_id=person.id, join_timestamp=now)
    await leave(platform, guild, bob)
    async with platform.database.read() as reader:
        left = await reader.all(_select_thread, thread_id=thread)
        member_count = await reader.scalar(_select_size, thread_id=thread)
    assert [row[0] for row in left] == [eve.id]
    assert member_count == 1


async def test_a_member_who_joins_by_an_invite_gets_a_join_message_too(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    await guild.set(system_channel_id=guild.general)
    code = (await guild.owner.post(f"/channels/{guild.general}/invites", {})).json["code"]
    with platform.listening() as heard:
        assert (await (await platform.person()).post(f"/invites/{code}")).status == 200
    assert heard == ["GUILD_MEMBER_ADD", "MESSAGE_CREATE"]
