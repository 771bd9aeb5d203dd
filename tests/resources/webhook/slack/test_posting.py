"""Execute Slack-Compatible Webhook: responses and messages."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from moothall.objects.ids import Snowflake, WebhookId
from moothall.resources.message.authors import avatar_hash
from tests.support.harness import FORUM, TEXT, Guild, Platform, Reply

FORM = "application/x-www-form-urlencoded"


class Hook:
    """A webhook as a sender knows it: by its address."""

    def __init__(self, platform: Platform, guild: Guild, channel_id: int, made: Any) -> None:
        self.platform = platform
        self.guild = guild
        self.channel_id = channel_id
        self.path = f"/webhooks/{made['id']}/{made['token']}"

    async def sends(self, body: Any, **query: Any) -> Reply:
        return await self.platform.anonymous.post(f"{self.path}/slack", body, **query)

    async def last(self) -> Any:
        messages = (await self.guild.owner.get(f"/channels/{self.channel_id}/messages", limit=1)).json
        return messages[0] if messages else None


async def hooked(platform: Platform, *, kind: int = TEXT) -> Hook:
    guild = await platform.guild(await platform.person("owner"))
    channel_id = await guild.channel(type=kind)
    made = (await guild.owner.post(f"/channels/{channel_id}/webhooks", {"name": "Herald"})).json
    platform.heard.clear()
    return Hook(platform, guild, channel_id, made)


async def test_a_payload_becomes_a_message_and_the_response_is_slacks(platform: Platform) -> None:
    hook = await hooked(platform)
    reply = await hook.sends(
        {
            "text": "*Deployed* <https://example.org/1|build 1>",
            "username": "Deployer",
            "icon_url": "https://example.org/icon.png",
            "icon_emoji": ":ghost:",
            "channel": "#elsewhere",
            "mrkdwn": False,
            "attachments": [{"fallback": "x", "color": "good", "title": "Build", "fields": [{"title": "a"}]}],
        }
    )
    assert (reply.status, reply.body, reply.headers["content-type"]) == (200, b"ok", "text/html")
    message = await hook.last()
    assert message["content"] == "**Deployed** [build 1](https://example.org/1)"
    icon = avatar_hash(WebhookId(Snowflake(int(message["webhook_id"]))), "https://example.org/icon.png")
    assert (message["author"]["username"], message["author"]["avatar"]) == ("Deployer", icon)
    assert message["embeds"][0]["title"] == "Build"
    assert message["embeds"][0]["color"] == 0x2EB886
    assert platform.heard_names == ["MESSAGE_CREATE"]


async def test_a_form_carries_the_same_payload(platform: Platform) -> None:
    hook = await hooked(platform)
    raw = urlencode({"payload": json.dumps({"text": "from a form"})}).encode()
    reply = await platform.anonymous.post(f"{hook.path}/slack", raw=raw, content_type=FORM)
    assert (reply.status, reply.body) == (200, b"ok")
    assert (await hook.last())["content"] == "from a form"
    plain = urlencode({"text": "without a payload", "token": "x"}).encode()
    reply = await platform.anonymous.post(f"{hook.path}/slack", raw=plain, content_type=f"{FORM}; charset=utf-8")
    assert reply.status == 200
    assert (await hook.last())["content"] == "without a payload"


async def test_only_users_mentioned_by_id_are_notified(platform: Platform) -> None:
    hook = await hooked(platform)
    role = await hook.guild.role()
    await hook.sends({"text": f"<!here> <!channel> <@&{role}> <@{hook.guild.owner.id}>"})
    message = await hook.last()
    assert (message["mention_everyone"], message["mention_roles"]) == (False, [])
    assert [user["id"] for user in message["mentions"]] == [str(hook.guild.owner.id)]


@pytest.mark.parametrize("body", [{}, {"text": "  "}, {"attachments": [{"color": "good"}]}, {"blocks": [1, {}]}])
async def test_an_empty_payload_is_refused_unless_wait_is_false(platform: Platform, body: Any) -> None:
    hook = await hooked(platform)
    assert (await hook.sends(body)).code == 50006
    reply = await hook.sends(body, wait=False)
    assert (reply.status, reply.body) == (200, b"ok")
    assert platform.heard == []


@pytest.mark.parametrize(
    ("body", "at"),
    [({"text": True}, "text"), ({"attachments": {}}, "attachments"), ({"text": "x", "username": "clyde"}, "username")],
)
async def test_invalid_values_are_refused_at_their_fields(platform: Platform, body: Any, at: str) -> None:
    hook = await hooked(platform)
    reply = await hook.sends(body)
    assert (reply.status, bool(reply.errors_at(at))) == (400, True)


async def test_malformed_forms_are_400(platform: Platform) -> None:
    hook = await hooked(platform)
    for raw in (b"payload=%7B", b"payload=[]", b"payload=%FF", b"payload=%7B%22text%22:%22" + b"\xff", b"&" * 5000):
        reply = await platform.anonymous.post(f"{hook.path}/slack", raw=raw, content_type=FORM)
        assert reply.status == 400


async def test_a_message_goes_into_a_thread_and_a_forum_requires_one(platform: Platform) -> None:
    hook = await hooked(platform, kind=FORUM)
    assert (await hook.sends({"text": "x"})).code == 220001
    metadata = {
        "archived": False,
        "auto_archive_duration": 1440,
        "archive_timestamp": "2026-01-01T00:00:00.000000+00:00",
        "locked": False,
        "create_timestamp": None,
    }
    thread = await hook.guild.channel(
        type=11, name="thread", parent_id=hook.channel_id, owner_id=hook.guild.owner.id, thread_metadata=metadata
    )
    assert (await hook.sends({"text": "x"}, thread_id=thread)).status == 200
    assert platform.heard_data("MESSAGE_CREATE")[0]["channel_id"] == str(thread)
    assert (await hook.sends({"text": "x"}, thread_id=1)).code == 10003
    assert (await hook.sends({"text": "x"}, thread_id=1, wait=False)).body == b"ok"


async def test_a_wrong_token_is_401(platform: Platform) -> None:
    hook = await hooked(platform)
    assert (await platform.anonymous.post(f"{hook.path}x/slack", {"text": "x"})).code == 50027
