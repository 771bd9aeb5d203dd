"""Legal holds: what is held is kept whatever deletes it, for operators alone."""

from typing import Any

from moothall.objects.ids import Snowflake
from moothall.objects.operator import OperatorPermission
from moothall.storage.database import Query
from moothall.storage.sql import func, select
from moothall.storage.tables import retained_messages
from tests.support.harness import Caller, Guild, Platform
from tests.support.operators import acts, make_operator

RETENTION = OperatorPermission.RETENTION


async def say(author: Caller, channel_id: object, text: str) -> str:
    reply = await author.post(f"/channels/{channel_id}/messages", {"content": text})
    assert reply.status == 200, reply.body
    return str(reply.json["id"])


async def hold(operator: Caller, scope: str, target_id: object) -> str:
    body = {"scope": scope, "target_id": str(target_id), "name": "case 7"}
    reply = await operator.post("/admin/v1/holds", body, reason="court")
    assert reply.status == 201, reply.body
    return f"/admin/v1/holds/{reply.json['id']}"


async def kept(operator: Caller, path: str) -> list[tuple[str, bool]]:
    """The text of each copy, oldest first, and whether it was deleted."""
    reply = await operator.post(f"{path}/messages")
    assert reply.status == 200, reply.body
    return [(each["content"], each["deleted"]) for each in reply.json[::-1]]


async def one_guild(platform: Platform) -> tuple[Caller, Caller, Guild]:
    operator, owner = await make_operator(platform, RETENTION, OperatorPermission.GUILDS), await platform.person()
    return operator, owner, await platform.guild(owner)


async def copies(platform: Platform) -> int:
    async with platform.database.read() as reader:
        return int(await reader.scalar(Query(lambda: select(func.count()).select_from(retained_messages))))


async def test_what_a_held_user_edits_and_deletes_is_kept_for_operators_alone(platform: Platform) -> None:
    operator, owner, guild = await one_guild(platform)
    other = await platform.person()
    await guild.join(other)
    path = await hold(operator, "user", int(owner.id))
    message = f"/channels/{guild.general}/messages/{await say(owner, guild.general, 'first')}"
    await owner.patch(message, {"content": "second"})
    assert (await owner.delete(message)).status == 204
    assert (await owner.get(message)).status == 404
    # Another user's messages are not held.
    await other.delete(f"/channels/{guild.general}/messages/{await say(other, guild.general, 'free')}")
    assert await kept(operator, path) == [("first", False), ("second", True)]
    for caller, status in ((owner, 403), (other, 403), (platform.anonymous, 401)):
        assert (await caller.post(f"{path}/messages")).status == status
        assert (await caller.get("/admin/v1/holds")).status == status
        assert (await caller.delete(path)).status == status
    # Who has read it is in the log.
    assert (await acts(platform))[1:] == ["hold.create", "hold.read"]


async def test_a_held_guild_and_channel_keep_what_ends_with_them(platform: Platform) -> None:
    operator, owner, guild = await one_guild(platform)
    room = await guild.channel()
    thread = (await owner.post(f"/channels/{room}/threads", {"name": "side", "type": 11})).json["id"]
    of_channel, of_guild = await hold(operator, "channel", int(room)), await hold(operator, "guild", int(guild.id))
    await say(owner, room, "in the channel")
    await say(owner, thread, "in the thread")
    await say(owner, guild.general, "elsewhere")
    assert (await owner.delete(f"/channels/{room}")).status == 200
    await platform.run_due_jobs()
    assert ("in the channel", True) in await kept(operator, of_channel)
    assert (await owner.delete(f"/guilds/{guild.id}")).status == 204
    await platform.run_due_jobs()
    texts = {text for text, _ in await kept(operator, of_guild)}
    assert {"in the channel", "in the thread", "elsewhere"} <= texts


async def test_a_released_hold_deletes_its_copies_unless_another_holds_them(platform: Platform) -> None:
    operator, owner, guild = await one_guild(platform)
    of_user, of_guild = await hold(operator, "user", int(owner.id)), await hold(operator, "guild", int(guild.id))
    await owner.delete(f"/channels/{guild.general}/messages/{await say(owner, guild.general, 'once')}")
    assert await copies(platform) == 1
    assert (await operator.delete(of_user)).status == 204
    await platform.run_due_jobs()
    assert await kept(operator, of_guild) == [("once", True)]
    assert (await operator.delete(of_guild)).status == 204
    await platform.run_due_jobs()
    assert await copies(platform) == 0
    assert (await operator.post(f"{of_guild}/messages")).status == 404


async def test_copies_of_a_thread_stay_while_its_channel_is_held(platform: Platform) -> None:
    operator, owner, guild = await one_guild(platform)
    threads = []
    for name in ("one", "two"):  # in a channel each
        room = await guild.channel(name=name)
        reply = await owner.post(f"/channels/{room}/threads", {"name": name, "type": 11})
        threads.append((room, reply.json["id"]))
    path = await hold(operator, "channel", threads[1][0])
    released = await hold(operator, "user", int(owner.id))
    for _, thread in threads:
        message = await say(owner, thread, f"in {thread}")
        assert (await owner.delete(f"/channels/{thread}/messages/{message}")).status == 204
    assert await copies(platform) == 2

    assert (await operator.delete(released)).status == 204
    await platform.run_due_jobs()

    assert await copies(platform) == 1
    async with platform.database.read() as reader:
        left = await reader.scalar(Query(lambda: select(retained_messages.c.channel_id)))
    assert int(left) == int(threads[1][1])
    assert (await operator.delete(path)).status == 204
    await platform.run_due_jobs()
    assert await copies(platform) == 0


async def test_a_rule_of_retention_hides_what_is_held_and_keeps_it(platform: Platform) -> None:
    operator, owner, guild = await one_guild(platform)
    path = await hold(operator, "channel", int(guild.general))
    await say(owner, guild.general, "evidence")
    assert (await owner.delete(f"/users/{owner.id}")).status in {404, 405}
    body: dict[str, Any] = {"scope": "guild", "target_id": str(int(guild.id)), "message_days": 1}
    await operator.put("/admin/v1/retention", body)
    await platform.run_due_jobs()
    assert await kept(operator, path) == []
    messages = (await owner.get(f"/channels/{guild.general}/messages")).json
    assert [message["content"] for message in messages] == ["evidence"]


async def test_holds_are_refused_for_what_is_not_there(platform: Platform) -> None:
    operator, _, guild = await one_guild(platform)
    for scope, code in (("user", 10013), ("guild", 10004), ("channel", 10003)):
        body = {"scope": scope, "target_id": str(int(Snowflake(17))), "name": "case"}
        assert (await operator.post("/admin/v1/holds", body)).code == code
    body = {"scope": "role", "target_id": str(int(guild.id)), "name": "case"}
    assert (await operator.post("/admin/v1/holds", body)).code == 50035
