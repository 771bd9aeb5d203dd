"""What the files of accounts are charged as, and the quota of an account."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest
from msgspec import structs

from moothall.api.jobs import JobRunner
from moothall.api.storage_quota import FILE_BYTES_MIN, UploadsInFlight
from moothall.objects.wire import Timestamp
from tests.resources.interaction.scenario import create_scenario
from tests.resources.message.attachment.uploading import (
    assert_usage_is_exact,
    guild_of,
    listed,
    send,
    stored,
    upload,
    usage,
)
from tests.resources.message.messaging import bot_of, member_of
from tests.support.accounts import PASSWORD, register
from tests.support.harness import ANNOUNCEMENT, Caller, Guild, Platform, Reply
from tests.support.operators import acts, make_operator
from tests.support.pending_uploads import create, put, uploaded

BLOCK: Final = FILE_BYTES_MIN
DAY_MS: Final = 86_400_000


def file_of(blocks: int) -> tuple[str, bytes]:
    return "a.bin", bytes(blocks * BLOCK)


def limit(platform: Platform, blocks: int) -> None:
    """Let each account store so many blocks."""
    platform.services.limits = structs.replace(platform.services.limits, storage_quota_bytes=blocks * BLOCK)


def is_over_quota(reply: Reply) -> bool:
    return (reply.status, reply.code) == (413, 40005) and "MB in all" in reply.json["message"]


async def forward(caller: Caller, url: str, message: Any) -> Reply:
    reference = {"type": 1, "message_id": message["id"], "channel_id": message["channel_id"]}
    return await caller.post(url, {"message_reference": reference})


async def blocks_of(platform: Platform, caller: Caller) -> float:
    await assert_usage_is_exact(platform)
    return (await usage(platform)).get(int(caller.id), 0) / BLOCK


async def test_an_account_is_charged_for_a_file_once_until_the_last_of_its_messages_with_it_is_deleted(
    platform: Platform,
) -> None:
    owner, guild, url = await guild_of(platform)
    other = await member_of(platform, guild)
    message = await send(owner, url, file_of(3), ("small.txt", b"x"))
    assert await blocks_of(platform, owner) == 4
    own, others = (await forward(owner, url, message)).json, (await forward(other, url, message)).json
    assert (await blocks_of(platform, owner), await blocks_of(platform, other)) == (4, 4)
    assert (await owner.delete(f"{url}/{message['id']}")).status == 204
    assert (await blocks_of(platform, owner), await blocks_of(platform, other)) == (4, 4)
    assert (await owner.delete(f"{url}/{own['id']}")).status == 204
    assert (await blocks_of(platform, owner), await blocks_of(platform, other)) == (0, 4)
    assert (await owner.delete(f"{url}/{others['id']}")).status == 204
    assert await usage(platform) == {}


async def test_a_full_account_is_refused_before_bytes_are_written_and_deleting_makes_room(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    other = await member_of(platform, guild)
    limit(platform, 4)
    message = await send(owner, url, file_of(3))
    before = await stored(platform)
    assert is_over_quota(await upload(owner, "POST", url, listed(file_of(2)), {"content": "x"}))
    assert await stored(platform) == before
    # Others, and messages without files, are not concerned.
    assert (await owner.post(url, {"content": "x"})).status == 200
    others = await send(other, url, file_of(4))
    assert is_over_quota(await forward(owner, url, others))
    assert is_over_quota(await upload(other, "PATCH", f"{url}/{others['id']}", listed(file_of(1)), {"content": "y"}))
    await send(owner, url, file_of(1))
    assert is_over_quota(await upload(owner, "POST", url, listed(("empty.txt", b"")), {}))
    assert (await forward(owner, url, message)).status == 200, "the file is stored already"
    # An edit may replace a file by one for which its room is needed.
    edited = await upload(other, "PATCH", f"{url}/{others['id']}", listed(file_of(4)), {"attachments": [{"id": 0}]})
    assert is_over_quota(edited), "what is uploaded comes before what it replaces is deleted"
    assert (await owner.delete(f"{url}/{others['id']}")).status == 204
    await send(other, url, file_of(4))
    await assert_usage_is_exact(platform)
    assert len(platform.services.resources[UploadsInFlight]) == 0


async def test_files_that_are_uploaded_at_once_do_not_exceed_the_quota(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    limit(platform, 10)
    replies = await asyncio.gather(
        *(upload(owner, "POST", url, listed(file_of(3)), {"content": "x"}) for _ in range(8))
    )
    accepted = [reply for reply in replies if reply.status == 200]
    assert all(is_over_quota(reply) for reply in replies if reply not in accepted)
    assert 1 <= len(accepted) <= 3
    assert await blocks_of(platform, owner) == 3 * len(accepted)
    assert len(await stored(platform)) == len(accepted)
    assert len(platform.services.resources[UploadsInFlight]) == 0


async def test_processes_that_do_not_know_of_each_others_uploads_do_not_exceed_it_together(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, _, url = await guild_of(platform)
    limit(platform, 4)
    # Each sees what is committed, and nothing of what the other receives.
    monkeypatch.setattr(UploadsInFlight, "of", lambda _, __: 0)
    replies = await asyncio.gather(
        *(upload(owner, "POST", url, listed(file_of(3)), {"content": "x"}) for _ in range(4))
    )
    assert sorted(reply.status for reply in replies) == [200, 413, 413, 413]
    assert await blocks_of(platform, owner) == 3
    assert len(await stored(platform)) == 1


async def test_uploads_that_no_message_has_are_charged_until_they_are_used_or_deleted(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    limit(platform, 4)
    (first,) = await uploaded(owner, guild.general, file_of(2))
    assert await blocks_of(platform, owner) == 2
    refused = await owner.post(
        f"/channels/{guild.general}/attachments", {"files": [{"filename": "a", "file_size": 3 * BLOCK}]}
    )
    assert is_over_quota(refused)
    # Two that fit each, but not together.
    created = [(await create(owner, guild.general, file_of(2)))[0] for _ in range(2)]
    statuses = [(await put(platform, one["upload_url"], bytes(2 * BLOCK)))[0] for one in created]
    assert statuses == [200, 413]
    assert len(await stored(platform)) == 2
    assert await blocks_of(platform, owner) == 4
    assert (await owner.post(url, {"attachments": [first]})).status == 200, "it is charged already"
    assert (await owner.delete(f"/attachments/{created[0]['upload_filename']}")).status == 204
    assert await blocks_of(platform, owner) == 2
    assert len(platform.services.resources[UploadsInFlight]) == 0


async def test_webhooks_are_charged_to_their_creator_and_bots_to_themselves(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    bot, creator = await bot_of(platform, guild), await guild.moderator()
    hook = (await creator.post(f"/channels/{guild.general}/webhooks", {"name": "Hook"})).json
    path = f"/webhooks/{hook['id']}/{hook['token']}"
    message = (await upload(platform.anonymous, "POST", path, listed(file_of(2)), {}, wait=True)).json
    await send(bot, url, file_of(3))
    assert await usage(platform) == {int(creator.id): 2 * BLOCK, int(bot.id): 3 * BLOCK}
    limit(platform, 3)
    assert is_over_quota(await upload(platform.anonymous, "POST", path, listed(file_of(2)), {}))
    assert is_over_quota(await upload(bot, "POST", url, listed(file_of(1)), {}))
    assert (await platform.anonymous.delete(f"{path}/messages/{message['id']}")).status == 204
    assert await usage(platform) == {int(bot.id): 3 * BLOCK}
    await assert_usage_is_exact(platform)
    assert int(owner.id) not in await usage(platform)


async def test_copies_of_published_messages_are_the_publishers_who_pays_once(platform: Platform) -> None:
    owner, guild, _ = await guild_of(platform)
    follower, followers, follower_url = await guild_of(platform)
    news = await guild.channel(type=ANNOUNCEMENT)
    await guild.join(follower)
    assert (
        await follower.post(f"/channels/{news}/followers", {"webhook_channel_id": str(followers.general)})
    ).status == 200
    limit(platform, 3)
    message = await send(owner, f"/channels/{news}/messages", file_of(3))
    assert (await owner.post(f"/channels/{news}/messages/{message['id']}/crosspost")).status == 200
    await platform.run_due_jobs()
    (copy,) = [each for each in (await follower.get(follower_url)).json if each["attachments"]]
    assert await usage(platform) == {int(owner.id): 3 * BLOCK}
    assert (await follower.delete(f"{follower_url}/{copy['id']}")).status == 204
    assert await usage(platform) == {int(owner.id): 3 * BLOCK}
    await assert_usage_is_exact(platform)


async def test_what_is_uploaded_with_interactions_is_the_users_and_what_responds_the_bots(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    interaction = await scenario.use_command(await scenario.create_command())
    path = f"/interactions/{interaction['id']}/{interaction['token']}/callback"
    body = {"type": 4, "data": {"content": "x"}}
    assert (await upload(platform.anonymous, "POST", path, listed(file_of(2)), body)).status == 204
    followup = scenario.webhook_path(interaction)
    assert (await upload(platform.anonymous, "POST", followup, listed(file_of(1)), {})).status == 200
    assert await usage(platform) == {int(scenario.app.id): 3 * BLOCK}
    limit(platform, 3)
    assert is_over_quota(await upload(platform.anonymous, "POST", followup, listed(file_of(1)), {}))
    command = await scenario.create_command(name="file", options=[{"type": 11, "name": "f", "description": "x"}])
    data = {
        "id": command["id"],
        "type": 1,
        "options": [{"type": 11, "name": "f", "value": "0"}],
        "attachments": [{"id": "0", "filename": "a.bin"}],
    }
    request = {"type": 2, "application_id": scenario.app.id, "channel_id": str(scenario.guild.general), "data": data}
    statuses = [
        (await upload(scenario.person, "POST", "/interactions", listed(file_of(2)), request)).status for _ in range(2)
    ]
    assert statuses == [204, 413]
    assert (await usage(platform))[int(scenario.person.id)] == 2 * BLOCK
    await assert_usage_is_exact(platform)


class Workload:
    """Random uploads and deletions of three people, a bot and a webhook in the channels of a guild."""

    def __init__(self, platform: Platform, guild: Guild, callers: list[Caller], seed: int) -> None:
        self.platform = platform
        self.guild = guild
        self.callers = callers
        self.random = random.Random(seed)
        self.channels: list[str] = []
        self.messages: list[dict[str, Any]] = []
        self.pending: list[tuple[Caller, str, dict[str, Any]]] = []

    @property
    def caller(self) -> Caller:
        return self.random.choice(self.callers)

    @property
    def channel(self) -> str:
        return self.random.choice(self.channels)

    def message(self) -> dict[str, Any] | None:
        return self.random.choice(self.messages) if self.messages else None

    def files(self) -> list[tuple[str, bytes]]:
        sizes = [self.random.choice([0, 1, BLOCK, BLOCK + 1, 3 * BLOCK]) for _ in range(self.random.randint(1, 3))]
        return [(f"{number}.bin", bytes(size)) for number, size in enumerate(sizes)]

    async def send(self) -> None:
        url = f"/channels/{self.channel}/messages"
        self.messages.append(await send(self.caller, url, *self.files(), body={"content": "x"}))

    async def forward(self) -> None:
        if (message := self.message()) is not None:
            reply = await forward(self.caller, f"/channels/{self.channel}/messages", message)
            if reply.status == 200:
                self.messages.append(reply.json)

    async def edit(self) -> None:
        if (message := self.message()) is not None:
            author = next((each for each in self.callers if str(each.id) == message["author"]["id"]), None)
            if author is not None:
                files = [{"id": each["id"]} for each in message["attachments"] if self.random.random() < 0.5]
                path = f"/channels/{message['channel_id']}/messages/{message['id']}"
                await author.patch(path, {"content": "y", "attachments": files})

    async def delete(self) -> None:
        if (message := self.message()) is not None:
            self.messages.remove(message)
            await self.guild.owner.delete(f"/channels/{message['channel_id']}/messages/{message['id']}")

    async def bulk_delete(self) -> None:
        channel = self.channel
        ids = [each["id"] for each in self.messages if each["channel_id"] == channel][:4]
        if len(ids) > 1:
            self.messages = [each for each in self.messages if each["id"] not in ids]
            reply = await self.guild.owner.post(f"/channels/{channel}/messages/bulk-delete", {"messages": ids})
            assert reply.status == 204

    async def put_upload(self) -> None:
        caller, channel = self.caller, self.channel
        self.pending += [(caller, channel, one) for one in await uploaded(caller, channel, *self.files())]

    async def use_upload(self) -> None:
        if self.pending:
            caller, channel, one = self.pending.pop()
            reply = await caller.post(
                f"/channels/{channel}/messages", {"content": "x", "attachments": [one | {"id": 0}]}
            )
            if reply.status == 200:
                self.messages.append(reply.json)

    async def delete_upload(self) -> None:
        if self.pending:
            caller, _, one = self.pending.pop()
            assert (await caller.delete(f"/attachments/{one['uploaded_filename']}")).status == 204

    async def execute_webhook(self) -> None:
        hook = (await self.guild.owner.post(f"/channels/{self.channel}/webhooks", {"name": "Hook"})).json
        path = f"/webhooks/{hook['id']}/{hook['token']}"
        reply = await upload(self.platform.anonymous, "POST", path, listed(*self.files()), {"content": "x"}, wait=True)
        self.messages.append(reply.json)
        if self.random.random() < 0.5:
            assert (await self.guild.owner.delete(f"/webhooks/{hook['id']}")).status == 204

    async def delete_channel(self) -> None:
        channel = self.channel
        assert (await self.guild.owner.delete(f"/channels/{channel}")).status == 200
        self.channels.remove(channel)
        self.channels.append(str(await self.guild.channel()))
        self.messages = [each for each in self.messages if each["channel_id"] != channel]
        self.pending = [each for each in self.pending if each[1] != channel]

    async def ban(self) -> None:
        target = self.callers[-1]
        path = f"/guilds/{self.guild.id}/bans/{target.id}"
        assert (await self.guild.owner.put(path, {"delete_message_seconds": 3600})).status == 204
        assert (await self.guild.owner.delete(path)).status == 204
        await self.guild.join(target)
        self.messages = [each for each in self.messages if each["author"]["id"] != str(target.id)]

    async def run(self, count: int) -> None:
        steps: list[Callable[[], Awaitable[None]]] = [
            *[self.send] * 4, *[self.forward] * 3, *[self.delete] * 2, self.edit, self.edit, self.bulk_delete,
            self.put_upload, self.put_upload, self.use_upload, self.delete_upload, self.execute_webhook,
            self.delete_channel, self.ban,
        ]  # fmt: skip
        for _ in range(count):
            await self.random.choice(steps)()


@pytest.mark.parametrize("seed", [1, 2])
async def test_what_is_counted_equals_a_new_count_after_random_uploads_and_deletions(
    platform: Platform, seed: int
) -> None:
    owner, guild, _ = await guild_of(platform)
    leaver, member, bot = await register(platform), await member_of(platform, guild), await bot_of(platform, guild)
    await guild.join(leaver)
    workload = Workload(platform, guild, [owner, bot, leaver, member], seed)
    workload.channels = [str(guild.general), str(await guild.channel()), str(await guild.channel())]
    for _ in range(4):
        await workload.run(15)
        await assert_usage_is_exact(platform)
        await platform.run_due_jobs()
        await assert_usage_is_exact(platform)
    assert await usage(platform)
    # Several at once, which wait for each other in changing orders.
    await asyncio.gather(*(workload.send() for _ in range(3)), *(workload.forward() for _ in range(3)))
    deleted, workload.messages = workload.messages[::2], workload.messages[1::2]
    paths = [f"/channels/{each['channel_id']}/messages/{each['id']}" for each in deleted]
    await asyncio.gather(*(owner.delete(path) for path in paths), *(workload.forward() for _ in range(3)))
    await assert_usage_is_exact(platform)
    # The messages of an account outlast it, and its files with them.
    assert (await leaver.post("/users/@me/delete", {"password": PASSWORD})).status == 204
    assert (await owner.delete(f"/guilds/{guild.id}")).status == 204
    await assert_usage_is_exact(platform)
    await JobRunner(platform.services).drain(Timestamp(Timestamp.now() + 15 * DAY_MS))
    await assert_usage_is_exact(platform)
    # All messages were the guild's, and uploads are deleted after a day.
    assert await usage(platform) == {}


async def test_a_guild_is_charged_for_each_file_of_its_channels_until_the_last_message_with_it_is_gone(
    platform: Platform,
) -> None:
    owner, _, url = await guild_of(platform)
    _, _, other_url = await guild_of(platform, name="Other")
    message = await send(owner, url, file_of(3))
    copies = [(await forward(owner, url, message)).json for _ in range(2)]
    await assert_usage_is_exact(platform)
    for each in (message, *copies):
        assert (await owner.delete(f"{url}/{each['id']}")).status == 204
        await assert_usage_is_exact(platform)
    assert (await forward(owner, other_url, message)).status in {403, 404}
    await assert_usage_is_exact(platform)


async def test_a_guild_that_is_full_refuses_files_of_everyone_and_another_takes_them(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    other = await member_of(platform, guild)
    operator = await make_operator(platform)
    path = f"/admin/v1/guilds/{guild.id}"
    assert (await operator.patch(path, {"storage_quota_mb": 1}, reason="full")).status == 200
    await send(owner, url, ("a.bin", bytes(800_000)))
    before = await stored(platform)
    refused = await upload(other, "POST", url, listed(("b.bin", bytes(400_000))))
    assert is_over_quota(refused)
    assert await usage(platform) == {int(owner.id): 800_000}
    await assert_usage_is_exact(platform)
    assert set(before) <= set(await stored(platform))
    text = await other.post(url, {"content": "words need no room"})
    assert text.status == 200
    _, _, elsewhere = await guild_of(platform, name="Other")
    assert (await operator.get(path)).json["file_bytes"] == 800_000
    assert [each["id"] for each in (await operator.get("/admin/v1/storage/guilds")).json] == [str(guild.id)]
    assert [each["id"] for each in (await operator.get("/admin/v1/storage/users")).json] == [str(owner.id)]
    # The setting counts again, and lets everything in.
    assert (await operator.patch(path, {"storage_quota_mb": None})).json["storage_quota_mb"] is None
    await send(other, url, ("b.bin", bytes(400_000)))
    platform.services.limits = structs.replace(platform.services.limits, storage_quota_mb_per_guild=1)
    assert is_over_quota(await upload(owner, "POST", url, listed(file_of(1))))
    assert elsewhere != url
    assert await acts(platform) == ["operator.add", "guild.quota", "guild.quota"]


async def test_a_deleted_channel_and_a_deleted_guild_give_their_room_back(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    channel = await guild.channel()
    await send(owner, f"/channels/{channel}/messages", file_of(2))
    await send(owner, url, file_of(1))
    assert (await owner.delete(f"/channels/{channel}")).status == 200
    await platform.run_due_jobs()
    await assert_usage_is_exact(platform)
    assert await usage(platform) == {int(owner.id): BLOCK}
    assert (await owner.delete(f"/guilds/{guild.id}")).status == 204
    await platform.run_due_jobs()
    assert await usage(platform) == {}
    operator = await make_operator(platform)
    assert (await operator.get("/admin/v1/storage/guilds")).json == []
