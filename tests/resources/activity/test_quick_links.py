"""Quick links: who creates them, what they show, and how they end."""

import base64
from typing import Any

import pytest

from moothall.api.jobs import MAX_TRANSACTION_MS, JobRunner
from moothall.objects import limits
from moothall.objects.wire import Timestamp
from tests.resources.activity.activities import activity
from tests.support.harness import Platform
from tests.support.pictures import PNG

_DAY_MS = 86_400_000
LINK: dict[str, Any] = {
    "title": "Baby Brick",
    "description": "Small but mighty",
    "image": "data:image/png;base64," + base64.b64encode(PNG).decode(),
    "custom_id": "user_123/game_456",
}


async def test_a_link_is_read_without_a_token_and_shows_its_image(platform: Platform) -> None:
    owner = await platform.person()
    bot = await activity(platform, owner)
    bearer = await platform.bearer(await platform.person(), bot.id, "identify")
    path = f"/applications/{bot.id}/quick-links"
    for who in (bearer, bot):
        assert (await who.post(path, LINK)).status == 200
    link = (await owner.post(f"{path}/", LINK)).json
    kind, _, number = link["link_id"].partition("-")
    assert (kind, number.isdigit()) == ("1", True)
    assert {**link, "link_id": "", "asset_path": ""} == {
        "application_id": str(bot.id),
        "link_id": "",
        "asset_path": "",
        "title": "Baby Brick",
        "description": "Small but mighty",
        "custom_id": "user_123/game_456",
        "primary_cta": None,
    }
    assert (await platform.anonymous.get(f"{path}/{link['link_id']}")).json == link
    without = {name: value for name, value in LINK.items() if name != "custom_id"}
    assert (await bot.post(path, without)).json["custom_id"] is None


async def test_what_a_link_shows_is_bounded(platform: Platform) -> None:
    bot = await activity(platform, await platform.person())
    for field, value in (
        ("title", ""),
        ("title", "x" * 33),
        ("description", ""),
        ("description", "x" * 65),
        ("custom_id", ""),
        ("custom_id", "x" * 257),
        ("image", "data:image/png;base64,eA=="),
        ("image", None),
    ):
        reply = await bot.post(f"/applications/{bot.id}/quick-links", LINK | {field: value})
        assert (reply.code, list(reply.json["errors"])) == (50035, [field]), field


async def test_links_belong_to_their_application(platform: Platform) -> None:
    owner = await platform.person()
    bot, other = await activity(platform, owner), await activity(platform, owner)
    path = f"/applications/{bot.id}/quick-links"
    foreign = await platform.bearer(owner, other.id, "identify")
    for who in (other, foreign):
        assert (await who.post(path, LINK)).code == 20012
    link_id = (await bot.post(path, LINK)).json["link_id"]
    for wrong in (f"/applications/{other.id}/quick-links/{link_id}", f"{path}/0{link_id[1:]}", f"{path}/x"):
        assert (await bot.get(wrong)).status == 404
    plain = await platform.bot(owner)
    assert (await plain.post(f"/applications/{plain.id}/quick-links", LINK)).code == 50035


async def test_an_application_has_a_bounded_number_of_links(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await activity(platform, await platform.person())
    monkeypatch.setattr(limits, "ACTIVITY_QUICK_LINKS_MAX", 1)
    path = f"/applications/{bot.id}/quick-links"
    assert (await bot.post(path, LINK)).status == 200
    assert (await bot.post(path, LINK)).code == 30016


async def test_a_link_ends_after_thirty_days_and_with_its_application(platform: Platform) -> None:
    owner = await platform.person()
    bot, other = await activity(platform, owner), await activity(platform, owner)
    paths = []
    for each in (bot, other):
        link = (await each.post(f"/applications/{each.id}/quick-links", LINK)).json
        paths.append(f"/applications/{each.id}/quick-links/{link['link_id']}")
    assert (await owner.delete(f"/applications/{other.id}")).status == 204
    assert (await owner.get(paths[1])).status == 404
    jobs = JobRunner(platform.services)
    await jobs.drain(Timestamp(Timestamp.now() + 29 * _DAY_MS))
    assert (await owner.get(paths[0])).status == 200
    await jobs.drain(Timestamp(Timestamp.now() + 30 * _DAY_MS + MAX_TRANSACTION_MS))
    assert (await owner.get(paths[0])).status == 404
