"""Slack's own client and GitHub's deliveries at a webhook, and searches through discord.py for what they said."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlencode

import discord
import pytest
from discord.http import Route
from slack_sdk.models.blocks import HeaderBlock, SectionBlock
from slack_sdk.webhook import WebhookClient

from tests.clients.bots import Harbour, soon
from tests.clients.live import World
from tests.resources.webhook.github.payloads import SUPPORTED_EVENTS


@pytest.fixture
async def harbour(world: World) -> AsyncIterator[Harbour]:
    """A guild with a bot online in it."""
    async with Harbour.opened(world) as opened:
        yield opened


@pytest.fixture
async def url(harbour: Harbour) -> str:
    """Where a webhook is posted to."""
    made = await harbour.channel.create_webhook(name="Herald")
    return f"{harbour.world.server.url}/api/webhooks/{made.id}/{made.token}"


async def test_slacks_own_client_posts(harbour: Harbour, url: str) -> None:
    client = WebhookClient(f"{url}/slack")
    heard = soon(harbour.client, "message")
    answer = await asyncio.to_thread(
        client.send,
        text="*Hello* <https://example.org|there>",
        attachments=[
            {"color": "good", "title": "Build 7", "fields": [{"title": "State", "value": "ok", "short": True}]}
        ],
    )
    assert (answer.status_code, answer.body) == (200, "ok")
    message = await heard
    assert message.content == "**Hello** [there](https://example.org)"
    assert (message.embeds[0].title, message.embeds[0].fields[0].value) == ("Build 7", "ok")
    assert message.embeds[0].colour == discord.Colour(0x2EB886)


async def test_slacks_blocks_arrive_as_text(harbour: Harbour, url: str) -> None:
    heard = soon(harbour.client, "message")
    blocks = [HeaderBlock(text="Release"), SectionBlock(text="It is *out*", fields=["*A*", "*B*"])]
    answer = await asyncio.to_thread(WebhookClient(f"{url}/slack").send, text="Release", blocks=blocks)
    assert answer.body == "ok"
    message = await heard
    assert message.content == "# Release\nIt is **out**"
    assert [field.value for field in message.embeds[0].fields] == ["**A**", "**B**"]


async def test_slacks_client_is_told_what_was_wrong(url: str) -> None:
    answer = await asyncio.to_thread(WebhookClient(f"{url}/slack").send, text="")
    assert answer.status_code == 400
    assert json.loads(answer.body)["code"] == 50006


@pytest.mark.parametrize("form", [False, True])
async def test_a_delivery_of_githubs_is_told(harbour: Harbour, url: str, form: bool) -> None:
    kind, payload, title = SUPPORTED_EVENTS["push"]
    encoded = json.dumps(payload)
    data = urlencode({"payload": encoded}) if form else encoded
    headers = {
        "Content-Type": "application/x-www-form-urlencoded" if form else "application/json",
        "User-Agent": "GitHub-Hookshot/044aadd",
        "X-GitHub-Event": kind,
    }
    heard = soon(harbour.client, "message")
    async with harbour.world.session.post(f"{url}/github", data=data.encode(), headers=headers) as answer:
        assert answer.status == 204
    message = await heard
    assert (message.embeds[0].title, message.embeds[0].author.name) == (title, "mona")


async def test_a_search_finds_what_was_just_said(harbour: Harbour) -> None:
    sent = await harbour.channel.send("A most unusual lighthouse")
    route = Route("GET", "/guilds/{guild_id}/messages/search", guild_id=harbour.guild.id)
    page: Any = None
    # A message is indexed within about half a second; the machine may be busy.
    for _ in range(600):
        page = await harbour.client.http.request(route, params={"content": "LIGHTHOUSE", "author_type": "bot"})
        if page["messages"]:
            break
        await asyncio.sleep(0.05)
    assert page["total_results"] == 1
    ((data,),) = page["messages"]
    result = discord.Message(state=harbour.client._connection, channel=harbour.channel, data=data)
    assert (result, result.content) == (sent, sent.content)
