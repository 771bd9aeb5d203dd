"""Guilds that operators delete: out of everyone's reach at once, back as they were, or gone for good."""

import asyncio
from typing import Any

from moothall.objects.operator import OperatorPermission
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.resources.guild_deletion import queries
from moothall.storage.database import Query, Reader
from moothall.storage.sql import func, select
from moothall.storage.statements.store import table_facts
from moothall.storage.tables import table_named
from tests.gateway.peer import Peer
from tests.support.gateway_nodes import node_over
from tests.support.harness import Caller, Guild, Platform
from tests.support.operators import acts, make_operator

GUILDS = OperatorPermission.GUILDS
_DAY_MS = 86_400_000


async def has_rows(reader: Reader, prefix: str) -> dict[str, int]:
    """How many rows each table of deleted guilds has."""
    counts = dict[str, int]()
    for name in sorted(name for name in table_facts() if name.startswith(prefix)):
        count = await reader.scalar(Query(select(func.count()).select_from(table_named(name))))
        if count:
            counts[name] = int(count)
    return counts


async def next_data(peer: Peer, name: str) -> Any:
    """The data of the next event of a name; presences and others come between."""
    while True:
        event = await peer.receive()
        if event["t"] == name:
            return event["d"]


class Town:
    """A guild with everything that is read without it."""

    def __init__(self, owner: Caller, member: Caller, guild: Guild, invite: str, webhook: str, message_id: str) -> None:
        self.owner = owner
        self.member = member
        self.guild = guild
        self.invite = invite
        self.webhook = webhook
        self.message_id = message_id

    async def reached(self) -> dict[str, Any]:
        """What a member, the owner and strangers get of it."""
        member, guild = self.member, self.guild
        platform = guild.platform
        return {
            "guild": (await member.get(f"/guilds/{guild.id}")).status,
            "owner": (await self.owner.get(f"/guilds/{guild.id}")).status,
            "channel": (await member.get(f"/channels/{guild.general}")).status,
            "messages": (await member.get(f"/channels/{guild.general}/messages")).status,
            "invite": (await platform.anonymous.get(f"/invites/{self.invite}")).status,
            "webhook": (await platform.anonymous.post(self.webhook, {"content": "hello"})).status,
            "guilds": [each["id"] for each in (await member.get("/users/@me/guilds")).json],
            "mentions": [each["id"] for each in (await member.get("/users/@me/mentions")).json],
            "mutual": [
                each["id"]
                for each in (await member.get(f"/users/{self.owner.id}/profile", with_mutual_guilds="true")).json.get(
                    "mutual_guilds", []
                )
            ],
        }


async def town(platform: Platform) -> Town:
    owner, member = await platform.person("mayor"), await platform.person("baker")
    guild = await platform.guild(owner, name="Town")
    await guild.join(member)
    invite = (await owner.post(f"/channels/{guild.general}/invites", {"max_age": 0})).json["code"]
    hook = (await owner.post(f"/channels/{guild.general}/webhooks", {"name": "crier"})).json
    message = await owner.post(f"/channels/{guild.general}/messages", {"content": f"hear, <@{int(member.id)}>"})
    return Town(owner, member, guild, invite, f"/webhooks/{hook['id']}/{hook['token']}", message.json["id"])


async def test_a_deleted_guild_is_out_of_everyones_reach_and_comes_back_as_it_was(platform: Platform) -> None:
    operator, city = await make_operator(platform, GUILDS), await town(platform)
    path, before = f"/admin/v1/guilds/{city.guild.id}", await city.reached()
    assert before["mentions"] == [city.message_id]
    assert before["mutual"] == [str(int(city.guild.id))]
    members = (await operator.get(path)).json["member_count"]
    with platform.listening() as heard:
        deleted = await operator.delete(path, reason="raid")
    assert (deleted.status, deleted.json["name"], deleted.json["member_count"]) == (200, "Town", members)
    assert deleted.json["deletes_at"] > deleted.json["deleted_at"]
    assert "GUILD_DELETE" in heard
    await platform.run_due_jobs()
    assert await city.reached() == {
        "guild": 404,
        "owner": 404,
        "channel": 404,
        "messages": 404,
        "invite": 404,
        "webhook": 404,
        "guilds": [],
        "mentions": [],
        "mutual": [],
    }
    assert (await operator.get("/admin/v1/guilds")).json == []
    listed = (await operator.get("/admin/v1/guilds", deleted=True)).json
    assert [guild["name"] for guild in listed] == ["Town"]
    restored = await operator.post(f"{path}/restore", {})
    assert (restored.status, restored.json["deleted_at"]) == (200, None)
    assert restored.json["member_count"] == members
    after = await city.reached()
    assert after == before
    async with platform.database.read() as reader:
        assert await has_rows(reader, "deleted_") == {}
    assert (await acts(platform))[1:] == ["guild.delete", "guild.restore"]


async def test_sessions_lose_a_deleted_guild_and_receive_the_restored_one(platform: Platform) -> None:
    operator, city = await make_operator(platform, GUILDS), await town(platform)
    node = node_over(platform)
    peer = Peer(node)
    await peer.identify(city.member.token)
    assert (await peer.receive())["t"] == "GUILD_CREATE"
    path = f"/admin/v1/guilds/{city.guild.id}"
    await operator.delete(path)
    assert await next_data(peer, "GUILD_DELETE") == {"id": str(int(city.guild.id))}
    later = Peer(node)
    assert (await later.identify(city.member.token))["guilds"] == []
    await operator.post(f"{path}/restore", {})
    await platform.run_due_jobs()
    for each in (peer, later):
        created = await next_data(each, "GUILD_CREATE")
        assert (created["name"], created["member_count"]) == ("Town", 2)


async def test_a_guild_of_many_members_is_hidden_and_restored_in_steps(platform: Platform, monkeypatch: Any) -> None:
    monkeypatch.setattr(queries, "MAX_MEMBERS_AT_ONCE", 2)
    operator, city = await make_operator(platform, GUILDS), await town(platform)
    await city.guild.join(*[await platform.person() for _ in range(4)])
    path = f"/admin/v1/guilds/{city.guild.id}"
    await operator.delete(path)
    await platform.run_due_jobs()
    async with platform.database.read() as reader:
        assert (await has_rows(reader, "deleted_members")) == {"deleted_members": 6}
    assert (await operator.post(f"{path}/restore", {})).json["deleted_at"] is not None
    # A second time changes nothing.
    assert (await operator.post(f"{path}/restore", {})).status == 200
    await platform.run_due_jobs()
    restored = (await operator.get(path)).json
    assert (restored["deleted_at"], restored["member_count"]) == (None, 6)
    assert (await city.member.get(f"/guilds/{city.guild.id}")).status == 200


async def test_a_guild_that_is_not_restored_in_time_is_deleted_for_good(platform: Platform) -> None:
    operator, city = await make_operator(platform, GUILDS), await town(platform)
    path = f"/admin/v1/guilds/{city.guild.id}"
    await operator.delete(path, days=3)
    await operator.post(f"{path}/restore", {})
    await operator.delete(path, days=9)
    now = Timestamp.now()
    # The job of the first deletion finds that the guild was restored since.
    await platform.run_jobs_at(Timestamp(now + 4 * _DAY_MS))
    assert (await operator.get(path)).json["name"] == "Town"
    await platform.run_jobs_at(Timestamp(now + 10 * _DAY_MS))
    assert (await operator.get(path)).code == 10004
    assert (await operator.post(f"{path}/restore", {})).code == 10004
    async with platform.database.read() as reader:
        assert await has_rows(reader, "deleted_") == {}
        assert await reader.scalar(Query(lambda: select(func.count()).select_from(table_named("messages")))) == 0


async def test_a_restored_guild_gets_an_owner_with_an_open_account_and_no_code_that_another_has(
    platform: Platform,
) -> None:
    operator = await make_operator(platform, GUILDS, OperatorPermission.USERS)
    city, stranger = await town(platform), await platform.person()
    await city.guild.set(vanity_url_code="town")
    path = f"/admin/v1/guilds/{city.guild.id}"
    await operator.delete(path)
    await operator.post(f"/admin/v1/users/{city.owner.id}/suspend")
    other = await platform.guild(stranger)
    await other.set(vanity_url_code="town")
    refused = await operator.post(f"{path}/restore", {})
    assert (refused.status, refused.code) == (400, 50035)
    assert (await operator.post(f"{path}/restore", {"owner_id": str(int(stranger.id))})).code == 50035
    restored = await operator.post(f"{path}/restore", {"owner_id": str(int(city.member.id))})
    assert (restored.status, restored.json["owner_id"]) == (200, str(int(city.member.id)))
    assert (await city.member.get(f"/guilds/{city.guild.id}")).json["vanity_url_code"] is None


async def test_a_guild_is_deleted_and_restored_once_by_operators_who_do_it_together(platform: Platform) -> None:
    one, two, city = await make_operator(platform), await make_operator(platform), await town(platform)
    path = f"/admin/v1/guilds/{city.guild.id}"
    for _ in range(2):
        replies = await asyncio.gather(one.delete(path), two.delete(path))
        assert sorted(reply.status for reply in replies) == [200, 404]
        replies = await asyncio.gather(one.post(f"{path}/restore", {}), two.post(f"{path}/restore", {}))
        assert sorted(reply.status for reply in replies) == [200, 404]
    assert (await city.member.get(f"/guilds/{city.guild.id}")).status == 200


async def test_only_operators_of_guilds_delete_and_restore_guilds(platform: Platform) -> None:
    city, moderator = await town(platform), await make_operator(platform, OperatorPermission.USERS)
    administrator = await city.guild.member_with(Permissions.ADMINISTRATOR)
    path = f"/admin/v1/guilds/{city.guild.id}"
    for caller, status in ((city.owner, 403), (administrator, 403), (moderator, 403), (platform.anonymous, 401)):
        assert (await caller.delete(path)).status == status
        assert (await caller.post(f"{path}/restore", {})).status == status
    assert (await city.member.get(f"/guilds/{city.guild.id}")).status == 200
