"""Concurrent requests leave a state that some sequential order of them would leave."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from sqlalchemy import bindparam, func, insert, select

from moothall.objects import limits
from moothall.objects.ids import RoleId, WebhookId
from moothall.storage.database import Query
from moothall.storage.schema import guild_counters, members, message_nonces, roles, webhooks
from tests.support.harness import CATEGORY, Caller, Guild, Platform, Reply

OF_GUILD: Any = bindparam("guild_id")
_count_rows = Query(select(func.count()).select_from(members).where(members.c.guild_id == OF_GUILD))
_stored_count = Query(select(guild_counters.c.member_count).where(guild_counters.c.guild_id == OF_GUILD))
_count_roles = Query(select(func.count()).select_from(roles).where(roles.c.guild_id == OF_GUILD))


@pytest.fixture
async def owner(platform: Platform) -> Caller:
    return await platform.person("alice")


@pytest.fixture
async def guild(platform: Platform, owner: Caller) -> Guild:
    return await platform.guild(owner)


def statuses(replies: Iterable[Reply]) -> Counter[int]:
    return Counter(reply.status for reply in replies)


async def counted(guild: Guild) -> tuple[int, int]:
    """The number of member rows, and the stored member count."""
    async with guild.platform.database.read() as reader:
        rows = await reader.scalar(_count_rows, guild_id=guild.id)
        return int(rows), int(await reader.scalar(_stored_count, guild_id=guild.id))


async def test_the_last_reordering_of_channels_wins_completely(platform: Platform, owner: Caller, guild: Guild) -> None:
    channels = [str(await guild.channel(name=f"c{n}")) for n in range(4)]
    admin = await guild.moderator()
    forwards = [{"id": channel, "position": n} for n, channel in enumerate(channels)]
    backwards = [{"id": channel, "position": 10 - n} for n, channel in enumerate(channels)]
    for _ in range(5):
        replies = await asyncio.gather(
            owner.patch(f"/guilds/{guild.id}/channels", forwards),
            admin.patch(f"/guilds/{guild.id}/channels", backwards),
        )
        assert statuses(replies) == {204: 2}
        listed = (await owner.get(f"/guilds/{guild.id}/channels")).json
        positions = {c["id"]: c["position"] for c in listed if c["id"] in channels}
        orders = [{item["id"]: item["position"] for item in order} for order in (forwards, backwards)]
        assert positions in orders
        # Events are sent in the order of the changes: the last one of each channel has the stored position.
        announced = {data["id"]: data["position"] for data in platform.heard_data("CHANNEL_UPDATE")}
        assert {c: announced.get(c, positions[c]) for c in channels} == positions


async def test_concurrent_requests_do_not_exceed_fifty_channels_per_category(owner: Caller, guild: Guild) -> None:
    category = str(await guild.channel(type=CATEGORY))
    for n in range(limits.CHANNELS_PER_CATEGORY - 2):
        await guild.channel(name=f"c{n}", parent_id=int(category))
    body = {"name": "more", "parent_id": category}
    replies = await asyncio.gather(*(owner.post(f"/guilds/{guild.id}/channels", body) for _ in range(6)))
    assert statuses(replies) == {201: 2, 400: 4}
    inside = [c for c in (await owner.get(f"/guilds/{guild.id}/channels")).json if c["parent_id"] == category]
    assert len(inside) == limits.CHANNELS_PER_CATEGORY


async def test_the_last_reordering_of_roles_wins_completely(platform: Platform, owner: Caller, guild: Guild) -> None:
    ranked = [str(await guild.role(name=f"r{n}")) for n in range(4)]
    admin = await guild.moderator()
    forwards = [{"id": role, "position": n + 1} for n, role in enumerate(ranked)]
    backwards = [{"id": role, "position": 4 - n} for n, role in enumerate(ranked)]
    for _ in range(5):
        replies = await asyncio.gather(
            owner.patch(f"/guilds/{guild.id}/roles", forwards), admin.patch(f"/guilds/{guild.id}/roles", backwards)
        )
        assert statuses(replies) == {200: 2}
        stored = {r["id"]: r["position"] for r in (await owner.get(f"/guilds/{guild.id}/roles")).json}
        positions = {role: stored[role] for role in ranked}
        assert positions in [{item["id"]: item["position"] for item in order} for order in (forwards, backwards)]
        announced = {data["role"]["id"]: data["role"]["position"] for data in platform.heard_data("GUILD_ROLE_UPDATE")}
        assert {role: announced.get(role, positions[role]) for role in ranked} == positions


async def test_concurrent_requests_do_not_exceed_250_roles(platform: Platform, owner: Caller, guild: Guild) -> None:
    async with platform.database.transaction() as tx:
        await tx.execute_many(
            Query(insert(roles)),
            [
                {"guild_id": guild.id, "id": RoleId(platform.ids.next()), "name": "r", "position": 1}
                for _ in range(limits.ROLES_PER_GUILD - 3)
            ],
        )
    await guild.set(name="Full")
    replies = await asyncio.gather(*(owner.post(f"/guilds/{guild.id}/roles", {"name": "x"}) for _ in range(6)))
    assert statuses(replies) == {200: 2, 400: 4}
    assert {reply.code for reply in replies if reply.status == 400} == {30005}
    async with platform.database.read() as reader:
        assert await reader.scalar(_count_roles, guild_id=guild.id) == limits.ROLES_PER_GUILD


async def test_a_role_deleted_while_it_is_added_belongs_to_no_member(owner: Caller, guild: Guild) -> None:
    people = [await guild.platform.person() for _ in range(4)]
    await guild.join(*people)
    for _ in range(3):
        role = await guild.role()
        additions = (owner.put(f"/guilds/{guild.id}/members/{person.id}/roles/{role}") for person in people)
        await asyncio.gather(*additions, owner.delete(f"/guilds/{guild.id}/roles/{role}"))
        for person in people:
            assert (await owner.get(f"/guilds/{guild.id}/members/{person.id}")).json["roles"] == []


async def test_concurrent_accepts_do_not_exceed_the_uses_of_an_invite(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    invite = (await owner.post(f"/channels/{guild.general}/invites", {"max_uses": 3})).json
    people = [await platform.person() for _ in range(8)]
    platform.heard.clear()
    replies = await asyncio.gather(*(person.post(f"/invites/{invite['code']}") for person in people))
    assert statuses(replies) == {200: 3, 404: 5}
    assert await counted(guild) == (4, 4)
    names = Counter(platform.heard_names)
    assert (names["GUILD_MEMBER_ADD"], names["INVITE_DELETE"]) == (3, 1)
    assert (await owner.get(f"/invites/{invite['code']}")).code == 10006


async def test_concurrent_joins_and_leaves_keep_the_member_count_correct(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    code = (await owner.post(f"/channels/{guild.general}/invites", {})).json["code"]
    staying = [await platform.person() for _ in range(5)]
    leaving = [await platform.person() for _ in range(5)]
    await guild.join(*leaving)
    url = f"/guilds/{guild.id}"
    for _ in range(3):
        await asyncio.gather(
            *(person.post(f"/invites/{code}") for person in staying),
            *(person.delete(f"/users/@me{url}") for person in leaving),
            # Two of those who leave are also kicked or banned.
            owner.delete(f"{url}/members/{leaving[0].id}"),
            owner.put(f"{url}/bans/{leaving[1].id}", {}),
        )
        await owner.delete(f"{url}/bans/{leaving[1].id}")
        rows, stored_count = await counted(guild)
        assert rows == stored_count == 6
        listed = (await owner.get(f"{url}/members", limit=100)).json
        assert {m["user"]["id"] for m in listed} == {str(owner.id), *(str(p.id) for p in staying)}
        assert (await owner.get(url, with_counts=True)).json["approximate_member_count"] == 6
        staying, leaving = leaving, staying


async def test_a_user_banned_while_joining_is_not_a_member(platform: Platform, owner: Caller, guild: Guild) -> None:
    code = (await owner.post(f"/channels/{guild.general}/invites", {})).json["code"]
    for _ in range(8):
        person = await platform.person()
        await asyncio.gather(person.post(f"/invites/{code}"), owner.put(f"/guilds/{guild.id}/bans/{person.id}", {}))
        assert (await owner.get(f"/guilds/{guild.id}/bans/{person.id}")).status == 200
        assert (await owner.get(f"/guilds/{guild.id}/members/{person.id}")).code == 10007
    assert await counted(guild) == (1, 1)


async def test_concurrent_requests_do_not_exceed_15_webhooks_per_channel(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    async with platform.database.transaction() as tx:
        await tx.execute_many(
            Query(insert(webhooks)),
            [
                {"id": WebhookId(platform.ids.next()), "guild_id": guild.id, "channel_id": guild.general, "name": "w"}
                for _ in range(limits.WEBHOOKS_PER_CHANNEL - 1)
            ],
        )
    elsewhere = (await owner.post(f"/channels/{await guild.channel()}/webhooks", {"name": "other"})).json
    replies = await asyncio.gather(
        *(owner.post(f"/channels/{guild.general}/webhooks", {"name": "x"}) for _ in range(4)),
        owner.patch(f"/webhooks/{elsewhere['id']}", {"channel_id": str(guild.general)}),
    )
    assert statuses(replies) == {200: 1, 400: 4}
    assert {reply.code for reply in replies if reply.status == 400} == {30007}
    listed = (await owner.get(f"/channels/{guild.general}/webhooks")).json
    assert len(listed) == limits.WEBHOOKS_PER_CHANNEL


async def test_concurrent_requests_for_a_vanity_code_give_it_to_one_guild(platform: Platform) -> None:
    owners = [await platform.person() for _ in range(4)]
    guilds = [await platform.guild(one, features=["VANITY_URL"]) for one in owners]
    requests = (
        one.patch(f"/guilds/{g.id}/vanity-url", {"code": "hall"}) for one, g in zip(owners, guilds, strict=True)
    )
    replies = await asyncio.gather(*requests)
    assert statuses(replies) == {200: 1, 400: 3}
    assert {reply.code for reply in replies if reply.status == 400} == {50020}
    winner = guilds[[reply.status for reply in replies].index(200)]
    assert (await platform.anonymous.get("/invites/hall")).json["guild"]["id"] == str(winner.id)


async def test_concurrent_messages_with_an_enforced_nonce_create_one_message(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    body = {"content": "once", "nonce": "n1", "enforce_nonce": True}
    replies = await asyncio.gather(*(owner.post(f"/channels/{guild.general}/messages", body) for _ in range(6)))
    assert statuses(replies) == {200: 6}
    assert len({reply.json["id"] for reply in replies}) == 1
    assert platform.heard_names == ["MESSAGE_CREATE"]
    async with platform.database.read() as reader:
        assert await reader.scalar(Query(select(func.count()).select_from(message_nonces))) == 1


async def test_permissions_removed_during_a_request_are_missing_afterwards(owner: Caller, guild: Guild) -> None:
    keeper = await guild.member_with(1 << 28)  # MANAGE_ROLES
    for _ in range(4):
        made, taken = await asyncio.gather(
            keeper.post(f"/guilds/{guild.id}/roles", {"name": "x", "permissions": "0"}),
            owner.patch(f"/guilds/{guild.id}/members/{keeper.id}", {"roles": []}),
        )
        assert taken.status == 200
        assert made.status in {200, 403}
        assert (await keeper.post(f"/guilds/{guild.id}/roles", {"name": "y"})).code == 50013
        role = await guild.role(permissions=1 << 28)
        await owner.put(f"/guilds/{guild.id}/members/{keeper.id}/roles/{role}")


async def test_concurrent_joins_do_not_exceed_ten_group_recipients(platform: Platform, owner: Caller) -> None:
    guild = await platform.guild(owner)
    people = [await platform.person() for _ in range(9)]
    await guild.join(*people)
    group = (await owner.post("/users/@me/channels", {"recipients": [str(p.id) for p in people[:6]]})).json
    code = (await owner.post(f"/channels/{group['id']}/invites", {})).json["code"]
    late = [*people[6:], *[await platform.person() for _ in range(3)]]
    replies = await asyncio.gather(*(person.post(f"/invites/{code}") for person in late))
    assert statuses(replies) == {200: 3, 400: 3}
    assert len((await owner.get(f"/channels/{group['id']}")).json["recipients"]) == 9


async def test_concurrent_onboarding_responses_grant_the_roles_of_one_response(owner: Caller, guild: Guild) -> None:
    bob = await guild.platform.person()
    await guild.join(bob)
    channels = [str(await guild.channel()) for _ in range(7)]
    granted = [str(await guild.role()) for _ in range(2)]
    options = [{"title": str(n), "role_ids": [role]} for n, role in enumerate(granted)]
    body = {
        "prompts": [{"title": "?", "single_select": True, "options": options}],
        "default_channel_ids": channels,
        "enabled": True,
    }
    made = (await owner.put(f"/guilds/{guild.id}/onboarding", body)).json["prompts"][0]["options"]
    url = f"/guilds/{guild.id}/onboarding-responses"
    for _ in range(4):
        await asyncio.gather(*(bob.put(url, {"onboarding_responses": [option["id"]]}) for option in made))
        role_ids = (await bob.get(f"/guilds/{guild.id}/members/{bob.id}")).json["roles"]
        answered = (await bob.get(f"/guilds/{guild.id}/onboarding")).json["responses"]
        assert [granted[[o["id"] for o in made].index(answered[0])]] == role_ids
