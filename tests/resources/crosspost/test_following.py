"""Following announcement channels, and publishing messages."""

from typing import Any

import pytest
from msgspec import Struct
from sqlalchemy import func, select

from moothall.api.jobs import JobRunner
from moothall.api.ratelimit import RateLimiter
from moothall.objects.permissions import Permissions
from moothall.resources.message.attachment.sweeper import FileSweeper
from moothall.storage.database import Database, Query
from moothall.storage.schema import crossposts
from tests.resources.message.attachment.uploading import send, stored
from tests.resources.message.messaging import bot_of, direct_messages, say
from tests.support.harness import ANNOUNCEMENT, VOICE, Caller, Guild, Platform

CROSSPOSTED, IS_CROSSPOST, SOURCE_MESSAGE_DELETED = 1, 2, 8
FOLLOWED = 12


class Press(Struct):
    """A guild that publishes, and one whose owner follows it."""

    platform: Platform
    paper: Guild
    news: int
    reader: Guild

    @property
    def url(self) -> str:
        """The path of the messages that may be published."""
        return f"/channels/{self.news}/messages"

    async def follow(self, channel: int | None = None) -> dict[str, Any]:
        """Make a channel of the reader's follow."""
        body = {"webhook_channel_id": str(channel or self.reader.general)}
        reply = await self.reader.owner.post(f"/channels/{self.news}/followers", body, reason="to know")
        assert reply.status == 200, reply.body
        followed: dict[str, Any] = reply.json
        return followed

    async def publish(self, content: str = "extra", **values: Any) -> dict[str, Any]:
        """A message published, and delivered."""
        sent = await say(self.paper.owner, self.url, content, **values)
        reply = await self.paper.owner.post(f"{self.url}/{sent['id']}/crosspost")
        assert reply.status == 200, reply.body
        await self.deliver()
        published: dict[str, Any] = reply.json
        return published

    async def deliver(self) -> None:
        """Let the jobs be done."""
        await JobRunner(self.platform.services).drain()

    async def read(self, channel: int | None = None) -> list[dict[str, Any]]:
        """What came into the reader's channel, newest first; not that it follows."""
        messages = (await self.reader.owner.get(f"/channels/{channel or self.reader.general}/messages")).json
        return [message for message in messages if message["type"] != FOLLOWED]


async def press(platform: Platform) -> Press:
    publisher, reader = await platform.person("publisher"), await platform.person("reader")
    paper = await platform.guild(publisher, name="Paper", features=["COMMUNITY", "NEWS"])
    news = await paper.channel(type=ANNOUNCEMENT, name="news")
    guild = await platform.guild(reader)
    await paper.join(reader)
    platform.heard.clear()
    return Press(platform, paper, news, guild)


async def test_following_sends_a_system_message_and_creates_a_webhook(platform: Platform) -> None:
    at = await press(platform)
    followed = await at.follow()
    assert followed["channel_id"] == str(at.news)
    assert platform.heard_names == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "WEBHOOKS_UPDATE", "MESSAGE_CREATE"]
    event = platform.heard_data("MESSAGE_CREATE")[0]
    assert (event["type"], event["content"], event["author"]["id"]) == (
        FOLLOWED,
        "Paper #news",
        str(at.reader.owner.id),
    )
    assert event["channel_id"] == str(at.reader.general)
    assert event["message_reference"] == {"type": 0, "channel_id": str(at.news), "guild_id": str(at.paper.id)}
    assert await at.reader.audit_log() == [(50, int(followed["webhook_id"]), "to know")]
    assert await at.paper.audit_log() == []
    hook = (await at.reader.owner.get(f"/webhooks/{followed['webhook_id']}")).json
    assert (hook["type"], hook["name"], hook["channel_id"]) == (2, "Paper #news", str(at.reader.general))
    assert (hook["guild_id"], hook["application_id"]) == (str(at.reader.id), None)
    assert hook["source_guild"] == {"id": str(at.paper.id), "name": "Paper", "icon": None}
    assert hook["source_channel"] == {"id": str(at.news), "name": "news"}
    assert "token" not in hook
    assert hook["user"]["id"] == str(at.reader.owner.id)
    assert (await platform.anonymous.post(f"/webhooks/{hook['id']}/x", {"content": "forged"})).code == 50027


async def test_following_is_idempotent(platform: Platform) -> None:
    at = await press(platform)
    first = await at.follow()
    with platform.listening() as heard:
        assert await at.follow() == first
    assert heard == []
    assert len((await at.reader.owner.get(f"/channels/{at.reader.general}/webhooks")).json) == 1


async def test_only_announcement_channels_are_followed_and_only_by_text_channels(platform: Platform) -> None:
    at = await press(platform)
    owner, mine = at.reader.owner, at.reader
    voice = await mine.channel(type=VOICE)
    direct = (await direct_messages(owner, at.paper.owner)).split("/")[2]
    cases = [
        (at.paper.general, mine.general, 400, 50024),
        (at.news, voice, 400, 50024),
        (at.news, at.news, 400, 50024),
        (at.news, direct, 400, 50024),
        (at.news, 1, 404, 10003),
        (at.news, at.paper.general, 403, 50013),
    ]
    platform.heard.clear()
    for source, target, status, code in cases:
        reply = await owner.post(f"/channels/{source}/followers", {"webhook_channel_id": str(target)})
        assert (reply.status, reply.code) == (status, code), (source, target)
    assert (await owner.post(f"/channels/{at.news}/followers", {})).errors_at("webhook_channel_id")
    hidden = await mine.channel(overwrites=[(mine.id, 0, 0, Permissions.VIEW_CHANNEL)])
    member = await mine.member_with(Permissions.MANAGE_WEBHOOKS)
    await at.paper.join(member)
    reply = await member.post(f"/channels/{at.news}/followers", {"webhook_channel_id": str(hidden)})
    assert (reply.status, reply.code) == (403, 50001)
    assert platform.heard == []
    assert await mine.audit_log() == []


async def test_following_counts_among_a_channels_webhooks(platform: Platform) -> None:
    at = await press(platform)
    for n in range(15):
        await at.reader.owner.post(f"/channels/{at.reader.general}/webhooks", {"name": f"hook {n}"})
    reply = await at.reader.owner.post(f"/channels/{at.news}/followers", {"webhook_channel_id": str(at.reader.general)})
    assert (reply.status, reply.code) == (400, 30007)


async def test_a_published_message_is_copied_to_all_followers(platform: Platform) -> None:
    at = await press(platform)
    other = await at.reader.channel()
    hooks = [(await at.follow())["webhook_id"], (await at.follow(other))["webhook_id"]]
    sent = await say(at.paper.owner, at.url, "**extra**", embeds=[{"title": "read"}])
    platform.heard.clear()
    reply = await at.paper.owner.post(f"{at.url}/{sent['id']}/crosspost")
    assert reply.status == 200
    assert reply.json == {**sent, "flags": CROSSPOSTED}
    assert platform.heard_names == ["MESSAGE_UPDATE"]
    assert platform.heard_data("MESSAGE_UPDATE")[0]["flags"] == CROSSPOSTED
    await at.deliver()
    assert platform.heard_names == ["MESSAGE_UPDATE", "MESSAGE_CREATE", "MESSAGE_CREATE"]
    for channel, hook in zip((at.reader.general, other), hooks, strict=True):
        (copy,) = await at.read(channel)
        assert (copy["content"], copy["embeds"]) == ("**extra**", sent["embeds"])
        assert (copy["type"], copy["flags"], copy["webhook_id"]) == (0, IS_CROSSPOST, hook)
        assert (copy["author"]["id"], copy["author"]["username"]) == (hook, "Paper #news")
        assert copy["message_reference"] == {
            "type": 0,
            "message_id": sent["id"],
            "channel_id": str(at.news),
            "guild_id": str(at.paper.id),
        }
        assert "referenced_message" not in copy
    await at.deliver()
    assert len(platform.heard) == 3


async def test_a_message_is_published_once(platform: Platform) -> None:
    at = await press(platform)
    published = await at.publish()
    platform.heard.clear()
    reply = await at.paper.owner.post(f"{at.url}/{published['id']}/crosspost")
    assert (reply.status, reply.code) == (400, 40033)
    assert platform.heard == []


async def test_publishing_another_users_message_requires_manage_messages(platform: Platform) -> None:
    at = await press(platform)
    writer = await at.paper.member_with(Permissions.SEND_MESSAGES)
    own, others = await say(writer, at.url, "mine"), await say(at.paper.owner, at.url, "theirs")
    platform.heard.clear()
    reply = await writer.post(f"{at.url}/{others['id']}/crosspost")
    assert (reply.status, reply.code) == (403, 50013)
    assert platform.heard == []
    assert (await writer.post(f"{at.url}/{own['id']}/crosspost")).status == 200
    editor = await at.paper.member_with(Permissions.SEND_MESSAGES | Permissions.MANAGE_MESSAGES)
    assert (await editor.post(f"{at.url}/{others['id']}/crosspost")).status == 200


async def test_messages_that_cannot_be_published_are_refused(platform: Platform) -> None:
    at = await press(platform)
    owner = at.paper.owner
    elsewhere = f"/channels/{at.paper.general}/messages"
    plain = await say(owner, elsewhere, "no announcement")
    poll = {"question": {"text": "?"}, "answers": [{"poll_media": {"text": "x"}}]}
    poll_message, pinned = await say(owner, at.url, "", poll=poll), await say(owner, at.url, "pinned")
    await owner.put(f"{at.url.removesuffix('/messages')}/pins/{pinned['id']}")
    system = (await owner.get(at.url)).json[0]
    cases = [
        (f"{elsewhere}/{plain['id']}", 400, 50024),
        (f"{at.url}/{poll_message['id']}", 400, 50068),
        (f"{at.url}/{system['id']}", 403, 50021),
        (f"{at.url}/1", 404, 10008),
    ]
    platform.heard.clear()
    for path, status, code in cases:
        reply = await owner.post(f"{path}/crosspost")
        assert (reply.status, reply.code) == (status, code), path
    assert platform.heard == []


async def test_a_copy_is_not_published_on(platform: Platform) -> None:
    at = await press(platform)
    relay = await at.reader.channel(type=ANNOUNCEMENT)
    await at.follow(relay)
    await at.publish()
    (copy,) = await at.read(relay)
    reply = await at.reader.owner.post(f"/channels/{relay}/messages/{copy['id']}/crosspost")
    assert (reply.status, reply.code) == (400, 50068)


async def test_a_channel_publishes_ten_messages_an_hour(database: Database) -> None:
    platform = Platform(database, limiter=RateLimiter(loopback_multiplier=1000))
    at = await press(platform)
    for n in range(10):
        await at.publish(f"{n}")
    sent = await say(at.paper.owner, at.url, "eleventh")
    platform.heard.clear()
    reply = await at.paper.owner.post(f"{at.url}/{sent['id']}/crosspost", client="203.0.113.7")
    assert (reply.status, reply.code) == (429, 40062)
    assert 3500 < reply.json["retry_after"] <= 3600
    assert int(reply.headers["retry-after"]) >= reply.json["retry_after"]
    assert platform.heard == []
    assert (await at.paper.owner.get(f"{at.url}/{sent['id']}")).json["flags"] == 0
    other = await at.paper.channel(type=ANNOUNCEMENT)
    elsewhere = await say(at.paper.owner, f"/channels/{other}/messages", "another channel")
    path = f"/channels/{other}/messages/{elsewhere['id']}/crosspost"
    assert (await at.paper.owner.post(path, client="203.0.113.7")).status == 200
    # The loopback address has a higher limit.
    assert (await at.paper.owner.post(f"{at.url}/{sent['id']}/crosspost")).status == 200


async def test_an_edit_of_the_source_reaches_the_copies(platform: Platform) -> None:
    at = await press(platform)
    await at.follow()
    published = await at.publish("wrnog")
    platform.heard.clear()
    edited = (await at.paper.owner.patch(f"{at.url}/{published['id']}", {"content": "right"})).json
    await at.deliver()
    assert platform.heard_names == ["MESSAGE_UPDATE", "MESSAGE_UPDATE"]
    (copy,) = await at.read()
    assert (copy["content"], copy["flags"]) == ("right", IS_CROSSPOST)
    assert copy["edited_timestamp"] == edited["edited_timestamp"]
    assert platform.heard_data("MESSAGE_UPDATE")[1]["content"] == "right"
    with platform.listening() as heard:
        await at.paper.owner.patch(f"{at.url}/{published['id']}", {"flags": 4})
        await at.deliver()
    assert len(heard) == 2
    assert (await at.read())[0]["flags"] == IS_CROSSPOST | 4


@pytest.mark.parametrize("how", ["one", "bulk", "ban"])
async def test_deleting_the_source_deletes_the_content_of_its_copies(platform: Platform, how: str) -> None:
    at = await press(platform)
    await at.follow()
    writer = await at.paper.member_with(Permissions.SEND_MESSAGES)
    sent = [await say(writer, at.url, f"secret {n}") for n in range(2)]
    for message in sent:
        await writer.post(f"{at.url}/{message['id']}/crosspost")
    await at.deliver()
    owner = at.paper.owner
    if how == "one":
        for message in sent:
            await owner.delete(f"{at.url}/{message['id']}")
    elif how == "bulk":
        await owner.post(f"{at.url}/bulk-delete", {"messages": [message["id"] for message in sent]})
    else:
        await owner.put(f"/guilds/{at.paper.id}/bans/{writer.id}", {"delete_message_seconds": 3600})
    platform.heard.clear()
    await at.deliver()
    assert platform.heard_names == ["MESSAGE_UPDATE", "MESSAGE_UPDATE"]
    copies = await at.read()
    assert len(copies) == 2
    for copy in copies:
        assert copy["content"] == "[Original Message Deleted]"
        assert copy["flags"] == IS_CROSSPOST | SOURCE_MESSAGE_DELETED
    async with platform.database.read() as reader:
        assert await reader.scalar(Query(select(func.count()).select_from(crossposts))) == 0


async def test_a_message_deleted_before_its_delivery_is_not_copied(platform: Platform) -> None:
    at = await press(platform)
    await at.follow()
    sent = await say(at.paper.owner, at.url, "hasty")
    await at.paper.owner.post(f"{at.url}/{sent['id']}/crosspost")
    await at.paper.owner.delete(f"{at.url}/{sent['id']}")
    await at.deliver()
    assert await at.read() == []


async def test_a_copy_may_be_deleted_in_its_channel(platform: Platform) -> None:
    at = await press(platform)
    await at.follow()
    published = await at.publish()
    (copy,) = await at.read()
    assert (await at.reader.owner.delete(f"/channels/{at.reader.general}/messages/{copy['id']}")).status == 204
    await at.paper.owner.patch(f"{at.url}/{published['id']}", {"content": "edited"})
    platform.heard.clear()
    await at.deliver()
    assert platform.heard == []
    async with platform.database.read() as reader:
        assert await reader.scalar(Query(select(func.count()).select_from(crossposts))) == 0


async def test_a_channel_that_no_longer_follows_gets_no_copies(platform: Platform) -> None:
    at = await press(platform)
    hook = (await at.follow())["webhook_id"]
    assert (await at.reader.owner.delete(f"/webhooks/{hook}")).status == 204
    await at.publish()
    assert await at.read() == []


async def test_a_copy_has_the_current_name_of_its_webhook_and_mentions_no_user(platform: Platform) -> None:
    at = await press(platform)
    hook = (await at.follow())["webhook_id"]
    await at.reader.owner.patch(f"/webhooks/{hook}", {"name": "Gazette"})
    await at.publish(f"<@{at.reader.owner.id}> @everyone")
    (copy,) = await at.read()
    assert copy["author"]["username"] == "Gazette"
    assert (copy["mentions"], copy["mention_everyone"]) == ([], False)
    assert copy["content"] == f"<@{at.reader.owner.id}> @everyone"


async def test_a_copy_names_the_channels_that_everyone_may_see_there(platform: Platform) -> None:
    at = await press(platform)
    await at.follow()
    hidden = await at.paper.channel(overwrites=[(at.paper.id, 0, 0, Permissions.VIEW_CHANNEL)])
    voice = await at.paper.channel(type=VOICE)
    await at.publish(f"<#{at.news}> <#{hidden}> <#{voice}> <#{at.reader.general}>")
    named = [{"id": str(at.news), "guild_id": str(at.paper.id), "type": ANNOUNCEMENT, "name": "news"}]
    assert (await at.read())[0]["mention_channels"] == named
    assert platform.heard_data("MESSAGE_CREATE")[-1]["mention_channels"] == named
    assert "mention_channels" not in await at.publish("nothing named")
    assert "mention_channels" not in (await at.read())[0]


async def test_a_bot_without_message_content_does_not_see_that_of_copies(platform: Platform) -> None:
    at = await press(platform)
    await at.follow()
    blind: Caller = await bot_of(platform, at.reader)
    await at.publish("for readers")
    shown = (await blind.get(f"/channels/{at.reader.general}/messages")).json[0]
    assert (shown["content"], shown["flags"]) == ("", IS_CROSSPOST)
    assert platform.heard[-1].stripped is not None


async def test_files_are_copied_too_and_deleted_with_the_source(platform: Platform) -> None:
    at = await press(platform)
    await at.follow()
    sent = await send(at.paper.owner, at.url, ("page.txt", b"news"), body={"content": "read"})
    assert (await at.paper.owner.post(f"{at.url}/{sent['id']}/crosspost")).status == 200
    await at.deliver()
    (copy,) = await at.read()
    (attachment,) = copy["attachments"]
    assert attachment["filename"] == "page.txt"
    assert attachment["url"].startswith(sent["attachments"][0]["url"].partition("?")[0] + "?ex=")
    assert platform.heard_data("MESSAGE_CREATE")[-1]["attachments"][0]["url"].startswith(
        attachment["url"].partition("?")[0] + "?ex="
    )
    await at.paper.owner.delete(f"{at.url}/{sent['id']}")
    await at.deliver()
    assert (await at.read())[0]["attachments"] == []
    await FileSweeper(platform.services).sweep()
    assert await stored(platform) == []
