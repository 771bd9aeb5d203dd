"""The newest page of a channel is kept, and never differs from a page that is read anew."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from moothall.resources.message import page_cache
from moothall.resources.message.rendering import encode_page
from tests.resources.message.messaging import guild_of, member_of, say
from tests.support.harness import Caller, Platform, Reply

_AFTER_ALL = (1 << 63) - 1


async def _differences(url: str, *viewers: Caller) -> list[str]:
    """Viewers to whom the kept page and one that is read anew differ."""
    different = []
    for viewer in viewers:
        for _ in range(2):
            newest = await viewer.get(url, limit=50)
            anew = await viewer.get(url, limit=50, before=_AFTER_ALL)
            assert newest.status == anew.status == 200
            if newest.json != anew.json:
                different.append(f"{viewer.id}: {newest.json} is not {anew.json}")
    return different


async def test_every_change_of_a_message_shows_on_the_kept_page(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    friend = await member_of(platform, guild)
    first = await say(owner, url, "first")
    second = await say(friend, url, "second")
    reply = {"content": f"<@{owner.id}>", "message_reference": {"message_id": first["id"]}}
    poll = {"question": {"text": "?"}, "answers": [{"poll_media": {"text": "a"}}, {"poll_media": {"text": "b"}}]}
    webhook = (await owner.post(f"/channels/{guild.general}/webhooks", {"name": "hook"})).json
    changes: list[Callable[[], Awaitable[Reply]]] = [
        lambda: friend.post(url, reply),
        lambda: owner.patch(f"{url}/{first['id']}", {"content": "edited"}),
        lambda: owner.post(url, {"embeds": [{"image": {"url": "https://example.org/a.png"}}]}),
        lambda: friend.put(f"{url}/{first['id']}/reactions/👍/@me"),
        lambda: owner.put(f"{url}/{first['id']}/reactions/👍/@me"),
        lambda: friend.delete(f"{url}/{first['id']}/reactions/👍/@me"),
        lambda: owner.put(f"{url}/pins/{second['id']}"),
        lambda: owner.post(url, {"poll": {**poll, "duration": 1}}),
        lambda: owner.post(f"{url}/{second['id']}/threads", {"name": "thread"}),
        lambda: friend.patch("/users/@me", {"global_name": "Renamed"}),
        lambda: platform.anonymous.post(f"/webhooks/{webhook['id']}/{webhook['token']}", {"content": "x"}),
        lambda: owner.delete(f"{url}/{first['id']}"),
        lambda: owner.put(f"/guilds/{guild.id}/bans/{friend.id}", {"delete_message_seconds": 3600}),
    ]
    assert not await _differences(url, owner, friend)
    for number, change in enumerate(changes):
        assert (await change()).status in {200, 201, 204}, number
        viewers = (owner,) if change is changes[-1] else (owner, friend)
        assert not await _differences(url, *viewers), number
    assert [m["content"] for m in (await owner.get(url)).json if m["type"] == 0] == ["x", "", ""]


async def test_votes_show_to_each_viewer_on_the_kept_page(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    friend = await member_of(platform, guild)
    answers = [{"poll_media": {"text": "a"}}, {"poll_media": {"text": "b"}}]
    sent = (await owner.post(url, {"poll": {"question": {"text": "?"}, "answers": answers, "duration": 1}})).json
    await _differences(url, owner, friend)
    path = f"/channels/{guild.general}/polls/{sent['id']}/answers/@me"
    assert (await friend.put(path, {"answer_ids": ["1"]})).status == 204
    assert not await _differences(url, owner, friend)


async def test_a_page_is_not_kept_if_a_message_comes_while_it_is_read(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, _, url = await guild_of(platform)
    if not platform.services.resources[page_cache.PageCache].enabled:
        pytest.skip("pages are kept only where no other process writes")
    await say(owner, url, "first")
    waiting, going_on = asyncio.Event(), asyncio.Event()

    async def encode_slowly(*values: Any) -> Any:
        monkeypatch.setattr(page_cache, "encode_page", encode_page)
        waiting.set()
        await going_on.wait()
        return await encode_page(*values)

    monkeypatch.setattr(page_cache, "encode_page", encode_slowly)
    early = asyncio.create_task(owner.get(url, limit=50))
    await waiting.wait()
    await say(owner, url, "second")
    going_on.set()
    assert [message["content"] for message in (await early).json] == ["first"]
    assert [message["content"] for message in (await owner.get(url, limit=50)).json] == ["second", "first"]


async def test_what_is_kept_is_bounded(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, _, url = await guild_of(platform)
    pages = platform.services.resources[page_cache.PageCache]
    if not pages.enabled:
        pytest.skip("pages are kept only where no other process writes")
    monkeypatch.setattr(pages._pages, "_maximum", 3_000)
    for number in range(5):
        await say(owner, url, f"{number}" * 300)
        await owner.get(url, limit=number + 1)
        await owner.get(url, limit=50)
    assert pages._pages.weight <= 3_000
