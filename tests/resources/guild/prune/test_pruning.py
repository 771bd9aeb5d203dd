"""Pruning: which members count as inactive, the events and the audit entry (api.md, Prune)."""

import asyncio

import pytest
from sqlalchemy import bindparam, insert, select, update

from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.ids import RoleId, UserId
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.resources.guild.prune.cache import InactiveMembers
from moothall.resources.member.activity import ActivityRecorder, set_last_seen
from moothall.resources.member.queries import count_members, get_member
from moothall.storage.database import Query
from moothall.storage.schema import guild_counters, member_activity, members, users
from tests.support.harness import VOICE, Caller, Guild, Platform, Reply
from tests.support.memberships import enter_voice
from tests.support.voice import go

DAY = 86_400_000
INSERT_USER = Query(insert(users))
INSERT_MEMBER = Query(insert(members))
SET_COUNT = Query(
    update(guild_counters)
    .where(guild_counters.c.guild_id == bindparam("guild_id"))
    .values(member_count=bindparam("new_count"))
)
SELECT_ACTIVITY = Query(
    select(member_activity.c.user_id, member_activity.c.last_seen_at).where(
        member_activity.c.guild_id == bindparam("guild_id")
    )
)


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person("owner"))


async def inactive(guild: Guild, *, days: float = 20, roles: tuple[RoleId, ...] = ()) -> Caller:
    person = await guild.platform.person()
    await guild.join(person, roles=roles)
    await seen(guild, person, days)
    return person


async def seen(guild: Guild, who: Caller, days_ago: float) -> None:
    async with guild.platform.database.transaction() as tx:
        await set_last_seen(tx, guild.id, who.id, Timestamp(Timestamp.now() - int(days_ago * DAY)))


async def counted(guild: Guild, **query: object) -> int:
    return int((await guild.owner.get(f"/guilds/{guild.id}/prune", **query)).json["pruned"])


async def prune(guild: Guild, body: object = None, **options: str) -> Reply:
    return await guild.owner.post(f"/guilds/{guild.id}/prune", {} if body is None else body, **options)


async def is_member(guild: Guild, user_id: UserId) -> bool:
    async with guild.platform.database.read() as reader:
        return await get_member(reader, guild.id, user_id) is not None


async def test_members_not_seen_for_days_are_removed_and_announced(platform: Platform, guild: Guild) -> None:
    away, recent, new = await inactive(guild), await inactive(guild, days=3), await platform.person()
    await guild.join(new)
    await enter_voice(platform, guild, away, await guild.channel(type=VOICE))
    assert await counted(guild) == 1
    assert await counted(guild, days=2) == 2
    assert await counted(guild, days=30) == 0
    with platform.listening() as heard:
        reply = await prune(guild, reason="spring cleaning")
    assert (reply.status, reply.json) == (200, {"pruned": 1})
    assert heard == [
        "VOICE_STATE_UPDATE",
        "VOICE_CHANNEL_START_TIME_UPDATE",
        "GUILD_MEMBER_REMOVE",
        "GUILD_AUDIT_LOG_ENTRY_CREATE",
    ]
    assert [await is_member(guild, p.id) for p in (away, recent, new)] == [False, True, True]
    entry = platform.heard_data("GUILD_AUDIT_LOG_ENTRY_CREATE")[-1]
    assert entry["action_type"] == AuditLogEvent.MEMBER_PRUNE
    assert entry["options"] == {"delete_member_days": "7", "members_removed": "1"}
    assert entry["reason"] == "spring cleaning"


async def test_members_with_roles_are_kept_unless_all_their_roles_are_included(guild: Guild) -> None:
    red, blue = await guild.role(), await guild.role()
    plain, reds, both = (
        await inactive(guild),
        await inactive(guild, roles=(red,)),
        await inactive(guild, roles=(red, blue)),
    )
    assert await counted(guild) == 1
    assert await counted(guild, include_roles=red) == 2
    assert await counted(guild, include_roles=[red, blue]) == 3
    assert await counted(guild, include_roles=f"{red}, {blue}") == 3
    assert (await prune(guild, {"include_roles": [str(int(red))]})).json == {"pruned": 2}
    assert [await is_member(guild, p.id) for p in (plain, reds, both)] == [False, False, True]
    # discord.py sends it like this.
    body = {"days": 7, "compute_prune_count": "false", "include_roles": f"{red}, {blue}"}
    assert (await prune(guild, body)).json == {"pruned": None}
    assert not await is_member(guild, both.id)


async def test_owners_bots_and_those_connected_are_never_pruned(platform: Platform, guild: Guild) -> None:
    bot = await platform.bot(guild.owner)
    await guild.join(bot)
    here = await inactive(guild)
    platform.presences.connected.add(here.id)
    for who in (guild.owner, bot):
        await seen(guild, who, 100)
    assert await counted(guild) == 0
    assert (await prune(guild)).json == {"pruned": 0}
    assert (platform.heard_names, await guild.audit_log()) == ([], [])


async def test_members_who_do_not_rank_below_the_actor_are_not_pruned(guild: Guild) -> None:
    low = await guild.role()
    mine = await guild.role(permissions=Permissions.MANAGE_GUILD | Permissions.KICK_MEMBERS)
    mod = await guild.platform.person()
    await guild.join(mod, roles=[mine])
    below, peer = await inactive(guild, roles=(low,)), await inactive(guild, roles=(mine,))
    body = {"include_roles": [str(int(low)), str(int(mine))]}
    assert (await mod.post(f"/guilds/{guild.id}/prune", body)).json == {"pruned": 1}
    assert [await is_member(guild, p.id) for p in (below, peer)] == [False, True]


async def test_errors_are_reported_by_field(guild: Guild) -> None:
    for days in (0, 31, "x"):
        assert (await prune(guild, {"days": days})).errors_at("days")
        assert (await guild.owner.get(f"/guilds/{guild.id}/prune", days=days)).errors_at("days")
    for roles in (["1234"], "1234", "12,x"):
        assert (await prune(guild, {"include_roles": roles})).status == 400
        assert (await guild.owner.get(f"/guilds/{guild.id}/prune", include_roles=roles)).status == 400
    for bits in (Permissions.MANAGE_GUILD, Permissions.KICK_MEMBERS):
        assert (await (await guild.member_with(bits)).get(f"/guilds/{guild.id}/prune")).code == 50013


async def test_a_large_prune_runs_in_batches_between_which_other_requests_run(platform: Platform, guild: Guild) -> None:
    async with platform.database.transaction() as tx:
        for _ in range(600):
            user_id = UserId(platform.ids.next())
            await tx.execute(INSERT_USER, id=user_id, username=f"u{user_id}", username_key=f"u{user_id}")
            await tx.execute(
                INSERT_MEMBER, guild_id=guild.id, user_id=user_id, username_key="u", joined_at=Timestamp(0)
            )
        await tx.execute(SET_COUNT, guild_id=guild.id, new_count=601)
    steps: list[int] = []
    platform.bus.subscribe(lambda envelopes: steps.append(len(envelopes)))
    reply, meanwhile = await asyncio.gather(prune(guild), guild.owner.get(f"/guilds/{guild.id}"))
    assert (reply.json, meanwhile.status) == ({"pruned": 600}, 200)
    assert len(steps) >= 3
    assert max(steps) < 300
    assert len(platform.heard_data("GUILD_MEMBER_REMOVE")) == 600
    entries = platform.heard_data("GUILD_AUDIT_LOG_ENTRY_CREATE")
    assert [entry["options"]["members_removed"] for entry in entries] == ["600"]
    async with platform.database.read() as reader:
        assert await count_members(reader, guild.id) == 1


async def test_a_guild_is_pruned_once_at_a_time(guild: Guild) -> None:
    await inactive(guild)
    replies = sorted(await asyncio.gather(prune(guild), prune(guild)), key=lambda reply: reply.status)
    assert [reply.status for reply in replies] == [200, 429]
    assert replies[1].json["retry_after"] > 0
    assert (await prune(guild)).json == {"pruned": 0}


async def test_a_seen_member_is_written_once_and_kept(platform: Platform, guild: Guild) -> None:
    away, elsewhere, outsider = await inactive(guild), await inactive(guild), await platform.person()
    recorder = ActivityRecorder(platform.database)
    recorder.seen(guild.id, away.id)
    recorder.seen(guild.id, away.id)
    recorder.seen(guild.id, outsider.id)
    recorder.seen_everywhere(elsewhere.id)
    assert await counted(guild) == 2
    await recorder.close()
    assert await counted(guild) == 0
    async with platform.database.read() as reader:
        assert len(await reader.all(SELECT_ACTIVITY, guild_id=guild.id)) == 2


async def test_a_day_old_record_is_renewed_and_a_newer_one_kept(platform: Platform, guild: Guild) -> None:
    old, young = await inactive(guild, days=1.5), await inactive(guild, days=0.5)
    recorder = ActivityRecorder(platform.database)
    recorder.seen(guild.id, old.id)
    recorder.seen(guild.id, young.id)
    await recorder.flush()
    async with platform.database.read() as reader:
        rows: dict[int, int] = dict(await reader.all(SELECT_ACTIVITY, guild_id=guild.id))
    assert Timestamp.now() - rows[old.id] < DAY // 4
    assert Timestamp.now() - rows[young.id] > DAY // 4


async def test_speaking_in_voice_counts_as_being_seen(platform: Platform, guild: Guild) -> None:
    away = await inactive(guild)
    lobby = await guild.channel(type=VOICE)
    assert await go(platform, guild, away, lobby)
    await platform.services.resources[ActivityRecorder].flush()
    assert await counted(guild) == 0


async def test_a_count_follows_everything_that_it_depends_on(guild: Guild) -> None:
    assert await counted(guild) == 0
    first, second = await inactive(guild), await inactive(guild)
    assert await counted(guild) == 2
    await seen(guild, first, 1)
    assert await counted(guild) == 1
    role = await guild.role()
    await guild.owner.put(f"/guilds/{guild.id}/members/{second.id}/roles/{role}")
    assert (await counted(guild), await counted(guild, include_roles=role)) == (0, 1)
    await guild.owner.delete(f"/guilds/{guild.id}/members/{second.id}")
    assert await counted(guild, include_roles=role) == 0


async def test_kept_members_grow_as_soon_as_one_becomes_inactive(platform: Platform, guild: Guild) -> None:
    away, soon = await platform.person(), await platform.person()
    await guild.join(away, soon)
    await seen(guild, away, 20)
    async with platform.database.transaction() as tx:
        await set_last_seen(tx, guild.id, soon.id, Timestamp(2_000_000_000_000))
    members_of = platform.services.resources[InactiveMembers]
    sizes = []
    async with platform.database.read() as reader:
        for since in (1_999_999_999_000, 1_999_999_999_999, 2_000_000_000_000, 2_000_000_000_001, 1_999_999_999_000):
            inactive_ids = await members_of.get(
                reader, guild.id, owner_id=guild.owner.id, since=Timestamp(since), role_lists=("[]",)
            )
            sizes.append(len(inactive_ids))
    assert sizes == [1, 1, 1, 2, 1]
