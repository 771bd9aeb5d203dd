"""A file is refused from the moment on that its last message is gone, before any job or sweeper has run."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest

from moothall.api.jobs import JobRunner
from moothall.api.storage_quota import FILE_BYTES_MIN
from moothall.objects.wire import Timestamp
from tests.oauth2.flow import application
from tests.resources.interaction.scenario import Scenario, install
from tests.resources.message.attachment.uploading import (
    assert_usage_is_exact,
    guild_of,
    listed,
    picture,
    send,
    upload,
    usage,
)
from tests.resources.message.messaging import member_of
from tests.support.fetched_files import get
from tests.support.harness import Caller, Guild, Platform

FILE: Final = ("a.png", picture())
DAY_MS: Final = 86_400_000


class Shelf:
    """A guild, a member of it, and a channel besides the first."""

    def __init__(self, platform: Platform, guild: Guild, member: Caller, channel: int) -> None:
        self.platform = platform
        self.guild = guild
        self.owner = guild.owner
        self.member = member
        self.channel = f"/channels/{channel}"
        self.url = f"{self.channel}/messages"

    async def send(self, url: str | None = None) -> Any:
        """A member's message with a file."""
        return await send(self.member, url or self.url, FILE)


async def shelf_of(platform: Platform) -> Shelf:
    _, guild, _ = await guild_of(platform)
    return Shelf(platform, guild, await member_of(platform, guild), await guild.channel())


End = Callable[[], Awaitable[Any]]
Way = Callable[[Shelf], Awaitable[tuple[str, End]]]
"""Puts a file somewhere: its URL, and how it ends."""


def url_of(message: Any) -> str:
    """The URL of a message's only file."""
    (attachment,) = message["attachments"]
    url: str = attachment["url"]
    return url


async def deleted(shelf: Shelf) -> tuple[str, End]:
    message = await shelf.send()
    return url_of(message), lambda: shelf.owner.delete(f"{shelf.url}/{message['id']}")


async def bulk_deleted(shelf: Shelf) -> tuple[str, End]:
    messages = [await shelf.send(), await shelf.send()]
    body = {"messages": [message["id"] for message in messages]}
    return url_of(messages[1]), lambda: shelf.owner.post(f"{shelf.url}/bulk-delete", body)


async def banned(shelf: Shelf) -> tuple[str, End]:
    path = f"/guilds/{shelf.guild.id}/bans/{shelf.member.id}"
    url = url_of(await shelf.send())
    return url, lambda: shelf.owner.put(path, {"delete_message_seconds": 3600})


async def edited(shelf: Shelf) -> tuple[str, End]:
    message = await shelf.send()
    body = {"content": "x", "attachments": []}
    return url_of(message), lambda: shelf.member.patch(f"{shelf.url}/{message['id']}", body)


async def without_its_embed(shelf: Shelf) -> tuple[str, End]:
    body = {"content": "x", "embeds": [{"image": {"url": "attachment://a.png"}}]}
    message = await send(shelf.member, shelf.url, FILE, body=body)
    path, body = f"{shelf.url}/{message['id']}", {"embeds": [], "attachments": []}
    return message["embeds"][0]["image"]["url"], lambda: shelf.member.patch(path, body)


async def by_webhook(shelf: Shelf) -> tuple[str, End]:
    hook = (await shelf.owner.post(f"{shelf.channel}/webhooks", {"name": "Hook"})).json
    path = f"/webhooks/{hook['id']}/{hook['token']}"
    message = (await upload(shelf.platform.anonymous, "POST", path, listed(FILE), {}, wait=True)).json
    return url_of(message), lambda: shelf.platform.anonymous.delete(f"{path}/messages/{message['id']}")


async def in_deleted_channel(shelf: Shelf) -> tuple[str, End]:
    return url_of(await shelf.send()), lambda: shelf.owner.delete(shelf.channel)


async def in_deleted_thread(shelf: Shelf) -> tuple[str, End]:
    thread = f"/channels/{(await shelf.owner.post(f'{shelf.channel}/threads', {'name': 't', 'type': 11})).json['id']}"
    return url_of(await shelf.send(f"{thread}/messages")), lambda: shelf.owner.delete(thread)


async def in_thread_of_deleted_channel(shelf: Shelf) -> tuple[str, End]:
    thread = (await shelf.owner.post(f"{shelf.channel}/threads", {"name": "t", "type": 11})).json["id"]
    return url_of(await shelf.send(f"/channels/{thread}/messages")), lambda: shelf.owner.delete(shelf.channel)


async def in_deleted_guild(shelf: Shelf) -> tuple[str, End]:
    return url_of(await shelf.send()), lambda: shelf.owner.delete(f"/guilds/{shelf.guild.id}")


async def in_thread_of_deleted_guild(shelf: Shelf) -> tuple[str, End]:
    url, _ = await in_deleted_thread(shelf)
    return url, lambda: shelf.owner.delete(f"/guilds/{shelf.guild.id}")


async def in_empty_group(shelf: Shelf) -> tuple[str, End]:
    other = await member_of(shelf.platform, shelf.guild)
    body = {"recipients": [str(shelf.member.id), str(other.id)]}
    group = f"/channels/{(await shelf.owner.post('/users/@me/channels', body)).json['id']}"

    async def leave() -> Any:
        for caller in (other, shelf.member):
            assert (await caller.delete(group)).status == 200
        return await shelf.owner.delete(group)

    return url_of(await shelf.send(f"{group}/messages")), leave


async def for_one_person(shelf: Shelf) -> tuple[str, End]:
    """An ephemeral followup in a channel that is deleted."""
    app = await application(shelf.platform)
    await install(shelf.owner, app, shelf.guild)
    scenario = Scenario(shelf.platform, shelf.guild, app, shelf.member)
    channel_id = shelf.channel.rpartition("/")[2]
    command = await scenario.create_command()
    data = {"id": command["id"], "type": command["type"]}
    interaction = await scenario.create_interaction(2, data, channel_id=channel_id)
    assert (await scenario.respond(interaction, 4, {"content": "x"})).status == 204
    sent = await upload(
        shelf.platform.anonymous, "POST", scenario.webhook_path(interaction), listed(FILE), {"flags": 1 << 6}
    )
    return url_of(sent.json), lambda: shelf.owner.delete(shelf.channel)


async def dismissed(shelf: Shelf) -> tuple[str, End]:
    """An ephemeral answer that its application deletes."""
    app = await application(shelf.platform)
    await install(shelf.owner, app, shelf.guild)
    scenario = Scenario(shelf.platform, shelf.guild, app, shelf.member)
    interaction = await scenario.use_command(await scenario.create_command())
    body = {"type": 4, "data": {"flags": 1 << 6}}
    path = f"/interactions/{interaction['id']}/{interaction['token']}/callback"
    sent = await upload(shelf.platform.anonymous, "POST", path, listed(FILE), body, with_response=True)
    original = scenario.webhook_path(interaction, "/messages/@original")
    return url_of(sent.json["resource"]["message"]), lambda: shelf.platform.anonymous.delete(original)


async def forwarded_into_deleted_channel(shelf: Shelf) -> tuple[str, End]:
    message = await shelf.send(f"/channels/{shelf.guild.general}/messages")
    reference = {"type": 1, "message_id": message["id"], "channel_id": message["channel_id"]}
    assert (await shelf.member.post(shelf.url, {"message_reference": reference})).status == 200

    async def end() -> Any:
        assert (await shelf.owner.delete(shelf.channel)).status == 200
        return await shelf.member.delete(f"/channels/{shelf.guild.general}/messages/{message['id']}")

    return url_of(message), end


WAYS: Final[dict[str, Way]] = {
    "is deleted": deleted,
    "is deleted with others": bulk_deleted,
    "goes with a ban": banned,
    "is edited": edited,
    "is edited to show it no more": without_its_embed,
    "is a webhook's and deleted": by_webhook,
    "is in a channel that is deleted": in_deleted_channel,
    "is in a thread that is deleted": in_deleted_thread,
    "is in a thread of a channel that is deleted": in_thread_of_deleted_channel,
    "is in a guild that is deleted": in_deleted_guild,
    "is in a thread of a guild that is deleted": in_thread_of_deleted_guild,
    "is in a group that everyone has left": in_empty_group,
    "is for one person, in a channel that is deleted": for_one_person,
    "is for one person and deleted": dismissed,
    "is deleted, and its forward's channel is": forwarded_into_deleted_channel,
}


@pytest.mark.parametrize("way", WAYS)
async def test_a_file_is_refused_at_once_when_its_last_message(platform: Platform, way: str) -> None:
    shelf, other = await shelf_of(platform), await shelf_of(platform)
    bystander = url_of(await other.send())
    url, end = await WAYS[way](shelf)
    whole = await get(platform, url)
    assert (whole.status, whole.body) == (200, FILE[1])
    reply = await end()
    assert reply.status in {200, 204}, reply.body
    for more in ("", "width=16"):
        assert (await get(platform, url, more=more)).status == 404
    assert (await get(platform, url, "HEAD")).status == 404
    assert (await get(platform, url, if_none_match=whole.headers["etag"])).status == 404
    assert (await get(platform, bystander)).status == 200
    # Who paid for it does so no more once all of it is deleted.
    await assert_usage_is_exact(platform)
    await JobRunner(platform.services).drain(Timestamp(Timestamp.now() + 2 * DAY_MS))
    await assert_usage_is_exact(platform)
    assert await usage(platform) == {int(other.member.id): FILE_BYTES_MIN}


async def test_a_file_stays_while_a_forward_of_it_is_there(platform: Platform) -> None:
    shelf = await shelf_of(platform)
    message = await shelf.send()
    reference = {"type": 1, "message_id": message["id"], "channel_id": message["channel_id"]}
    general = f"/channels/{shelf.guild.general}/messages"
    forward = (await shelf.member.post(general, {"message_reference": reference})).json
    assert (await shelf.owner.delete(shelf.channel)).status == 200
    assert (await get(platform, url_of(message))).status == 200
    assert (await shelf.member.delete(f"{general}/{forward['id']}")).status == 204
    assert (await get(platform, url_of(message))).status == 404
