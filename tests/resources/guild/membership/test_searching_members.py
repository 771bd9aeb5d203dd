"""Searching the members of a guild by many properties."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from moothall.objects.application import ApplicationFlags
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.permissions import Permissions
from moothall.resources.member.queries import get_member
from tests.support.harness import Caller, Guild, Platform


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person("owner"))


async def search(caller: Caller, guild: Guild, **body: Any) -> tuple[list[int], int]:
    """The user ids of the page, and how many match."""
    reply = await caller.post(f"/guilds/{guild.id}/members-search", body)
    assert reply.status == 200
    user_ids = [int(each["member"]["user"]["id"]) for each in reply.json["members"]]
    assert reply.json["page_result_count"] == len(user_ids)
    return user_ids, reply.json["total_result_count"]


async def test_members_are_matched_by_each_property(platform: Platform, guild: Guild) -> None:
    ann, bob, carol = [await platform.person(name) for name in ("annabel", "bob", "carol")]
    bakers, cooks = await guild.role(name="Bakers"), await guild.role(name="Cooks")
    await guild.join(ann, roles=[bakers])
    await guild.join(bob, roles=[bakers, cooks])
    await guild.join(carol)
    await guild.owner.patch(f"/guilds/{guild.id}/members/{carol.id}", {"nick": "Belinda"})
    until = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    await guild.owner.patch(f"/guilds/{guild.id}/members/{bob.id}", {"communication_disabled_until": until})
    for condition, expected in (
        ({"usernames": {"or_query": ["BEL"]}}, {ann.id, carol.id}),
        ({"usernames": {"or_query": ["owne", "bob"]}}, {guild.owner.id, bob.id}),
        ({"user_id": {"or_query": [str(bob.id), "1"]}}, {bob.id}),
        ({"user_id": {"range": {"gte": str(bob.id), "lte": str(carol.id)}}}, {bob.id, carol.id}),
        ({"role_ids": {"or_query": [str(bakers), str(cooks)]}}, {ann.id, bob.id}),
        ({"role_ids": {"and_query": [str(bakers), str(cooks)]}}, {bob.id}),
        ({"guild_joined_at": {"range": {"lte": 1}}}, set()),
        ({"is_pending": True}, set()),
        ({"did_rejoin": False}, {guild.owner.id, ann.id, bob.id, carol.id}),
        ({"safety_signals": {"communication_disabled_until": {"range": {"gte": 1}}}}, {bob.id}),
        ({"safety_signals": {"unusual_account_activity": True}}, set()),
        ({"safety_signals": {"automod_quarantined_username": False}}, {guild.owner.id, ann.id, bob.id, carol.id}),
        ({"source_invite_code": {"or_query": ["abc"]}}, set()),
    ):
        user_ids, total = await search(guild.owner, guild, and_query=condition)
        assert (set(user_ids), total) == (expected, len(expected)), condition
    either = {"usernames": {"or_query": ["carol"]}, "role_ids": {"or_query": [str(cooks)]}}
    assert set((await search(guild.owner, guild, or_query=either))[0]) == {bob.id, carol.id}
    assert await search(guild.owner, guild, and_query=either) == ([], 0)


@pytest.mark.parametrize(("sort", "is_newest_first"), [(1, True), (2, False), (3, True), (4, False)])
async def test_pages_follow_each_other_in_order(
    platform: Platform, guild: Guild, sort: int, is_newest_first: bool
) -> None:
    people = [await platform.person() for _ in range(4)]
    for person in people:
        await guild.join(person)
    order = sorted([guild.owner.id, *(person.id for person in people)], reverse=is_newest_first)
    pages: list[list[int]] = []
    position: dict[str, Any] = {}
    for _ in range(3):
        reply = await guild.owner.post(f"/guilds/{guild.id}/members-search", {"limit": 2, "sort": sort, **position})
        members = [each["member"] for each in reply.json["members"]]
        pages.append([int(member["user"]["id"]) for member in members])
        last = members[-1]["user"]["id"]
        joined = await _joined_ms(platform, guild, int(last))
        position = {"after": {"user_id": last, "guild_joined_at": joined}}
        assert reply.json["total_result_count"] == 5
    assert [user_id for page in pages for user_id in page] == order
    before = {"user_id": str(order[3]), "guild_joined_at": await _joined_ms(platform, guild, order[3])}
    assert (await search(guild.owner, guild, limit=2, sort=sort, before=before))[0] == order[1:3]


async def _joined_ms(platform: Platform, guild: Guild, user_id: int) -> int:

    async with platform.database.read() as reader:
        row = await get_member(reader, guild.id, UserId(Snowflake(user_id)))
    assert row is not None
    return int(row.joined_at)


async def test_bots_need_the_intent_and_everyone_the_permission(platform: Platform, guild: Guild) -> None:
    manager = await guild.role(permissions=Permissions.MANAGE_GUILD)
    limited = int(ApplicationFlags.GATEWAY_GUILD_MEMBERS_LIMITED)
    plain, privileged = [await platform.bot(guild.owner, flags=flags) for flags in (0, limited)]
    await guild.join(plain, privileged, roles=[manager])
    assert (await plain.post(f"/guilds/{guild.id}/members-search", {})).code == 50001
    assert (await search(privileged, guild))[1] == 3
    member = await guild.member_with(0)
    assert (await member.post(f"/guilds/{guild.id}/members-search", {})).code == 50013
