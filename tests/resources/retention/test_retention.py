"""Rules of retention: what is over its time is deleted, for everyone, and from the disk."""

from pathlib import Path
from typing import Any

from moothall.api.jobs.queries import select_next_due
from moothall.objects.ids import ChannelId, MessageId, Snowflake
from moothall.objects.operator import OperatorPermission
from moothall.objects.wire import Timestamp
from moothall.resources.message.attachment.sweeper import FileSweeper
from moothall.resources.retention.eraser import Eraser
from moothall.storage.database import Query
from moothall.storage.sql import bindparam, select, update
from moothall.storage.tables import attachments, messages
from tests.support.harness import Caller, Guild, Platform
from tests.support.operators import acts, make_operator

RETENTION = OperatorPermission.RETENTION
_DAY_MS = 86_400_000
_move = Query(
    lambda: (
        update(messages)
        .where(messages.c.id == bindparam("message_id"))
        .values(id=bindparam("new_id"), parts=messages.c.parts)
    )
)
_move_files = Query(
    lambda: (
        update(attachments)
        .where(attachments.c.message_id == bindparam("message_id"))
        .values(message_id=bindparam("new_id"))
    )
)


async def sent(author: Caller, channel_id: ChannelId, text: str, *, days_ago: int = 0, **options: Any) -> MessageId:
    """A message, made as old as that afterwards; the index follows, because `parts` is written too."""
    reply = await author.post(f"/channels/{channel_id}/messages", {"content": text}, **options)
    assert reply.status == 200, reply.body
    message_id = MessageId(Snowflake.from_wire(reply.json["id"]))
    if not days_ago:
        return message_id
    old = MessageId(Snowflake(int(message_id) - (days_ago * _DAY_MS << 22)))
    async with author.platform.database.transaction() as tx:
        await tx.execute(_move, message_id=message_id, new_id=old)
        await tx.execute(_move_files, message_id=message_id, new_id=old)
    return old


async def texts(platform: Platform) -> list[bytes]:
    async with platform.database.read() as reader:
        return [
            bytes(row[0]) for row in await reader.all(Query(lambda: select(messages.c.body).order_by(messages.c.id)))
        ]


def words(bodies: list[bytes]) -> set[str]:
    """Which of the texts of these tests the messages have."""
    return {
        name for name in ("old", "new", "kept", "gone") for body in bodies if b'"content":"%b' % name.encode() in body
    }


async def rule(operator: Caller, scope: str, target_id: object = None, **fields: int | None) -> None:
    body = {"scope": scope, "target_id": None if target_id is None else str(target_id), **fields}
    reply = await operator.put("/admin/v1/retention", body, reason="law")
    assert reply.status == 200, reply.body


async def one_guild(platform: Platform) -> tuple[Caller, Caller, Guild]:
    operator, owner = await make_operator(platform, RETENTION), await platform.person()
    return operator, owner, await platform.guild(owner)


async def test_messages_over_their_time_are_deleted_and_their_channel_is_told(platform: Platform) -> None:
    operator, owner, guild = await one_guild(platform)
    old = await sent(owner, guild.general, "old", days_ago=11)
    await sent(owner, guild.general, "new", days_ago=9)
    with platform.listening():
        await rule(operator, "instance", message_days=10)
        await platform.run_due_jobs()
    assert platform.heard_data("MESSAGE_DELETE_BULK") == [
        {"ids": [str(int(old))], "channel_id": str(int(guild.general)), "guild_id": str(int(guild.id))}
    ]
    assert words(await texts(platform)) == {"new"}
    # The next pass is an hour later.
    async with platform.database.read() as reader:
        waiting = await select_next_due(reader)
    assert waiting is not None
    assert 3_500_000 < waiting - Timestamp.now() <= 3_600_000
    assert (await acts(platform))[1:] == ["retention.change"]


async def test_the_rule_of_a_channel_counts_before_its_guilds_and_that_before_the_instances(platform: Platform) -> None:
    operator, owner, guild = await one_guild(platform)
    other = await platform.guild(owner)
    quick = await guild.channel()
    await sent(owner, other.general, "gone", days_ago=40)
    await sent(owner, guild.general, "kept", days_ago=40)
    await sent(owner, quick, "old", days_ago=4)
    await rule(operator, "channel", int(quick), message_days=3)
    await rule(operator, "guild", int(guild.id), message_days=50)
    await rule(operator, "instance", message_days=30)
    await platform.run_due_jobs()
    assert words(await texts(platform)) == {"kept"}
    listed = (await operator.get("/admin/v1/retention")).json
    assert [(each["scope"], each["message_days"]) for each in listed] == [
        ("channel", 3),
        ("guild", 50),
        ("instance", 30),
    ]


async def test_a_rule_that_is_taken_back_deletes_no_more(platform: Platform) -> None:
    operator, owner, guild = await one_guild(platform)
    await sent(owner, guild.general, "old", days_ago=11)
    await rule(operator, "guild", int(guild.id), message_days=10)
    await rule(operator, "guild", int(guild.id))
    await platform.run_due_jobs()
    assert words(await texts(platform)) == {"old"}
    assert (await operator.get("/admin/v1/retention")).json == []


async def test_many_messages_are_deleted_some_at_a_time(platform: Platform) -> None:
    operator, owner, guild = await one_guild(platform)
    for _ in range(3):
        await sent(owner, guild.general, "old", days_ago=11)
    direct = (
        await owner.post("/users/@me/channels", {"recipient_id": str(int((await befriended(platform, owner)).id))})
    ).json
    await sent(owner, ChannelId(Snowflake.from_wire(direct["id"])), "old", days_ago=12)
    await rule(operator, "instance", message_days=10)
    await platform.run_due_jobs()
    assert await texts(platform) == []


async def befriended(platform: Platform, person: Caller) -> Caller:
    other = await platform.person()
    await other.put(f"/users/@me/relationships/{person.id}", {})
    await person.put(f"/users/@me/relationships/{other.id}", {})
    return other


async def test_rules_are_refused_for_what_is_not_there_and_without_permission(platform: Platform) -> None:
    operator, owner, guild = await one_guild(platform)
    other = await make_operator(platform, OperatorPermission.SETTINGS)
    body: dict[str, object] = {"scope": "guild", "target_id": str(int(guild.id)), "message_days": 1}
    for caller, status in ((owner, 403), (other, 403), (platform.anonymous, 401)):
        assert (await caller.put("/admin/v1/retention", body)).status == status
        assert (await caller.get("/admin/v1/retention")).status == status
    assert (await operator.put("/admin/v1/retention", {**body, "target_id": "17"})).code == 10004
    assert (await operator.put("/admin/v1/retention", {**body, "scope": "channel"})).code == 10003
    assert (await operator.put("/admin/v1/retention", {"scope": "instance", "large_file_mb": 5})).code == 50035
    assert (await operator.put("/admin/v1/retention", {**body, "message_days": 0})).code == 50035
    # Nothing but the fields of a rule is taken from the body.
    taken = await operator.put("/admin/v1/retention", {**body, "message_days": 9, "changed_by": str(int(owner.id))})
    assert taken.json[0]["changed_by"] == str(int(operator.id))


def holds_bytes(folder: Path, text: bytes) -> list[str]:
    """The files of a folder that have a text in them."""
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and text in path.read_bytes())


async def test_no_byte_of_what_is_deleted_stays_in_the_data_folder(platform: Platform) -> None:
    operator, owner, guild = await one_guild(platform)
    path = getattr(platform.database, "path", None)
    eraser, sweeper = Eraser(platform.services), FileSweeper(platform.services)
    secret = "quixotryzebra"
    for number in range(40):
        await sent(owner, guild.general, f"{secret} {number} {'x' * 900}", days_ago=11)
    await sent(owner, guild.general, "kept")
    await eraser.erase()
    if path is not None:
        assert holds_bytes(Path(path).parent, secret.encode()) != []
    assert (await owner.get(f"/guilds/{guild.id}/messages/search", content=secret)).json["total_results"] == 40
    await rule(operator, "guild", int(guild.id), message_days=10)
    await platform.run_due_jobs()
    await sweeper.sweep()
    await eraser.erase()
    assert words(await texts(platform)) == {"kept"}
    assert (await owner.get(f"/guilds/{guild.id}/messages/search", content=secret)).json["total_results"] == 0
    if path is not None:
        assert holds_bytes(Path(path).parent, secret.encode()) == []
        assert holds_bytes(Path(path).parent, b"kept") != []
