"""Links in messages have previews: who gets them, when they change, and what an outgoing request may do."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from aiohttp import web
from sqlalchemy import func, select, update

from moothall.objects.message_types import MessageFlags
from moothall.objects.permissions import Permissions
from moothall.resources.link_preview import fetcher
from moothall.resources.link_preview.fetcher import LinkPreviews
from moothall.resources.message.preview_worker import ATTEMPTS_MAX, PreviewWorker
from moothall.runtime.budgets import Allowance, Budgets, Payer, Rates
from moothall.storage.database import Query
from moothall.storage.schema import link_previews, preview_requests
from tests.resources.link_preview.sites import Site, allow, attach, meta, picture, running_site
from tests.resources.message.messaging import bot_of, direct_messages, guild_of, say
from tests.support.harness import Caller, Platform

ARTICLE = meta(og__title="A title", og__description="What it says", og__site_name="The site")


@pytest.fixture
async def site(platform: Platform) -> AsyncIterator[Site]:
    async with running_site() as running:
        allow(platform)
        yield running


async def embeds_of(caller: Caller, url: str, message: dict[str, Any]) -> list[dict[str, Any]]:
    reply = await caller.get(f"{url}/{message['id']}")
    embeds: list[dict[str, Any]] = reply.json["embeds"]
    return embeds


async def preview(platform: Platform, link: str) -> list[dict[str, Any]]:
    """The embeds of a new message with a link."""
    owner, _, url = await guild_of(platform)
    sent = await say(owner, url, link)
    await attach(platform)
    return await embeds_of(owner, url, sent)


async def test_a_link_gets_its_preview_after_the_message_was_sent(platform: Platform, site: Site) -> None:
    owner, _, url = await guild_of(platform)
    link = site.page("/a", ARTICLE)
    with platform.listening() as heard:
        sent = await say(owner, url, f"look: {link}.")
    assert (sent["embeds"], heard, site.requested) == ([], ["MESSAGE_CREATE"], [])
    with platform.listening() as heard:
        await attach(platform)
    assert heard == ["MESSAGE_UPDATE"]
    announced = platform.heard_data("MESSAGE_UPDATE")[-1]
    expected = {
        "type": "link",
        "url": link,
        "title": "A title",
        "description": "What it says",
        "provider": {"name": "The site"},
    }
    assert announced["embeds"] == await embeds_of(owner, url, sent) == [expected]
    # It is no edit, and what the author wrote stays.
    assert (announced["edited_timestamp"], announced["content"]) == (None, f"look: {link}.")
    # Nothing waits any more.
    with platform.listening() as heard:
        await attach(platform)
    assert heard == []


async def test_a_request_says_who_asks_and_carries_nothing_of_the_reader(platform: Platform, site: Site) -> None:
    await preview(platform, site.page("/a", ARTICLE))
    (headers,) = site.headers
    assert "Moothall" in headers["user-agent"]
    assert not {"authorization", "cookie", "referer"} & set(headers)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("{0}", 1), ("[text]({0})", 1), ("see {0}, or not", 1), ("||{0}||", 1), ("({0})", 1), ("**{0}**", 1),
        ("<{0}>", 0), ("[text](<{0}>)", 0), ("`{0}`", 0), ("```\n{0}\n```", 0), ("ftp{0}", 1), ("no link", 0),
        ("{0} {0}", 1), ("{0} <{0}>", 1), ("> {0}", 1),
    ],
)  # fmt: skip
async def test_links_in_code_and_angle_brackets_have_no_preview(
    platform: Platform, site: Site, content: str, expected: int
) -> None:
    link = site.page("/a", ARTICLE)
    embeds = await preview(platform, content.format(link))
    assert [embed["url"] for embed in embeds] == [link] * expected


async def test_at_most_five_links_have_previews_in_the_order_of_the_text(platform: Platform, site: Site) -> None:
    links = [site.page(f"/{number}", meta(og__title=str(number))) for number in range(7)]
    embeds = await preview(platform, " ".join(reversed(links)))
    assert [embed["title"] for embed in embeds] == ["6", "5", "4", "3", "2"]


async def test_a_link_is_fetched_once_for_all_messages_and_again_when_it_expires(
    platform: Platform, site: Site
) -> None:
    link = site.page("/a", ARTICLE)
    assert len(await preview(platform, link)) == len(await preview(platform, link)) == 1
    missing = site.url + "/missing"
    assert await preview(platform, missing) == await preview(platform, missing) == []
    assert site.requested == ["/a", "/missing"]
    async with platform.database.transaction() as tx:
        await tx.execute(Query(update(link_previews).values(expires_at=1)))
    assert len(await preview(platform, link)) == 1
    assert site.requested == ["/a", "/missing", "/a"]


async def test_messages_that_ask_at_once_share_a_request(platform: Platform, site: Site) -> None:
    arrived, release = asyncio.Event(), asyncio.Event()

    async def slow(_: web.Request) -> web.Response:
        arrived.set()
        await release.wait()
        return web.Response(text=ARTICLE, content_type="text/html")

    owner, _, url = await guild_of(platform)
    link = site.handle("/slow", slow)
    sent = [await say(owner, url, f"{number} {link}") for number in range(3)]
    worker = asyncio.create_task(attach(platform))
    await arrived.wait()
    release.set()
    await worker
    assert site.requested == ["/slow"]
    assert [len(await embeds_of(owner, url, message)) for message in sent] == [1, 1, 1]


async def test_the_cache_is_bounded(platform: Platform, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetcher, "CACHED_MAX", 3)
    for number in range(5):
        await preview(platform, site.page(f"/{number}", meta(og__title=str(number))))
    async with platform.database.read() as reader:
        assert await reader.scalar(Query(select(func.count()).select_from(link_previews))) == 3
        assert await reader.scalar(Query(select(func.count()).select_from(preview_requests))) == 0


async def test_only_authors_with_embed_links_get_previews(platform: Platform, site: Site) -> None:
    link = site.page("/a", ARTICLE)
    owner, guild, url = await guild_of(platform)
    everyone = {"permissions": str(int(Permissions.VIEW_CHANNEL | Permissions.SEND_MESSAGES))}
    assert (await owner.patch(f"/guilds/{guild.id}/roles/{guild.id}", everyone)).status == 200
    plain = await guild.member_with(0)
    allowed = await guild.member_with(int(Permissions.EMBED_LINKS))
    without, with_embed = await say(plain, url, link), await say(allowed, url, link)
    webhook = (await owner.post(f"/channels/{guild.general}/webhooks", {"name": "hook"})).json
    posted = await platform.anonymous.post(
        f"/webhooks/{webhook['id']}/{webhook['token']}", {"content": link}, wait=True
    )
    await attach(platform)
    counts = [len(await embeds_of(owner, url, each)) for each in (without, with_embed, posted.json)]
    assert counts == [0, 1, 1]


async def test_direct_messages_have_previews(platform: Platform, site: Site) -> None:
    alice, bob = await platform.person("alice"), await platform.person("bob")
    url = await direct_messages(alice, bob)
    sent = await say(alice, url, site.page("/a", ARTICLE))
    await attach(platform)
    assert len(await embeds_of(bob, url, sent)) == 1


async def test_embeds_of_a_bot_come_first_and_survive_the_previews(platform: Platform, site: Site) -> None:
    _, guild, url = await guild_of(platform)
    bot = await bot_of(platform, guild)
    one, two = site.page("/1", meta(og__title="one")), site.page("/2", meta(og__title="two"))
    sent = await say(bot, url, f"{one} {two}", embeds=[{"title": "mine", "url": one}])
    await attach(platform)
    assert [embed.get("title") for embed in await embeds_of(bot, url, sent)] == ["mine", "one", "two"]
    # New embeds replace the bot's own only; a link that is gone takes its preview with it.
    edited = await bot.patch(f"{url}/{sent['id']}", {"embeds": [{"title": "new"}]})
    assert [embed["title"] for embed in edited.json["embeds"]] == ["new", "one", "two"]
    edited = await bot.patch(f"{url}/{sent['id']}", {"content": two})
    assert [embed["title"] for embed in edited.json["embeds"]] == ["new", "two"]
    edited = await bot.patch(f"{url}/{sent['id']}", {"embeds": []})
    assert [embed["title"] for embed in edited.json["embeds"]] == ["two"]


async def test_an_edit_drops_previews_of_links_that_are_gone_and_fetches_new_ones(
    platform: Platform, site: Site
) -> None:
    owner, _, url = await guild_of(platform)
    one, two = site.page("/1", meta(og__title="one")), site.page("/2", meta(og__title="two"))
    sent = await say(owner, url, one)
    await attach(platform)
    edited = await owner.patch(f"{url}/{sent['id']}", {"content": f"{one} {two}"})
    assert [embed["title"] for embed in edited.json["embeds"]] == ["one"]
    await attach(platform)
    assert [embed["title"] for embed in await embeds_of(owner, url, sent)] == ["one", "two"]
    edited = await owner.patch(f"{url}/{sent['id']}", {"content": two})
    assert [embed["title"] for embed in edited.json["embeds"]] == ["two"]
    edited = await owner.patch(f"{url}/{sent['id']}", {"content": f"<{two}>"})
    assert edited.json["embeds"] == []
    await attach(platform)
    assert await embeds_of(owner, url, sent) == []


async def test_a_preview_that_arrives_after_an_edit_fits_the_new_text(platform: Platform, site: Site) -> None:
    owner, _, url = await guild_of(platform)
    one, two = site.page("/1", meta(og__title="one")), site.page("/2", meta(og__title="two"))
    sent = await say(owner, url, f"{one} {two}")
    await owner.patch(f"{url}/{sent['id']}", {"content": f"now only {two}"})
    await attach(platform)
    assert [embed["title"] for embed in await embeds_of(owner, url, sent)] == ["two"]
    assert (await owner.get(f"{url}/{sent['id']}")).json["content"] == f"now only {two}"


async def test_a_deleted_message_stays_deleted(platform: Platform, site: Site) -> None:
    owner, _, url = await guild_of(platform)
    sent = await say(owner, url, site.page("/a", ARTICLE))
    await owner.delete(f"{url}/{sent['id']}")
    with platform.listening() as heard:
        await attach(platform)
    assert heard == []
    assert (await owner.get(f"{url}/{sent['id']}")).code == 10008
    async with platform.database.read() as reader:
        assert await reader.scalar(Query(select(func.count()).select_from(preview_requests))) == 0


async def test_suppressed_embeds_stay_hidden_and_come_back(platform: Platform, site: Site) -> None:
    owner, _, url = await guild_of(platform)
    link = site.page("/a", ARTICLE)
    flag = int(MessageFlags.SUPPRESS_EMBEDS)
    sent = await say(owner, url, link, flags=flag)
    await attach(platform)
    assert (site.requested, await embeds_of(owner, url, sent)) == ([], [])
    # Allowed again, it is fetched; hidden once more and shown again, it is not.
    await owner.patch(f"{url}/{sent['id']}", {"flags": 0})
    await attach(platform)
    assert len(await embeds_of(owner, url, sent)) == 1
    assert (await owner.patch(f"{url}/{sent['id']}", {"flags": flag})).json["embeds"] == []
    assert len((await owner.patch(f"{url}/{sent['id']}", {"flags": 0})).json["embeds"]) == 1
    await attach(platform)
    assert site.requested == ["/a"]
    # Suppressed while it is fetched.
    other = await say(owner, url, site.page("/b", ARTICLE))
    await owner.patch(f"{url}/{other['id']}", {"flags": flag})
    await attach(platform)
    assert await embeds_of(owner, url, other) == []


async def test_copies_of_published_messages_get_the_preview(platform: Platform, site: Site) -> None:
    owner, guild, _ = await guild_of(platform)
    news, target = await guild.channel(type=5), await guild.channel()
    assert (await owner.post(f"/channels/{news}/followers", {"webhook_channel_id": str(target)})).status == 200
    sent = await say(owner, f"/channels/{news}/messages", site.page("/a", ARTICLE))
    assert (await owner.post(f"/channels/{news}/messages/{sent['id']}/crosspost")).status == 200
    await platform.run_due_jobs()
    await attach(platform)
    await platform.run_due_jobs()
    copies = [each for each in (await owner.get(f"/channels/{target}/messages")).json if each["type"] == 0]
    assert [len(each["embeds"]) for each in copies] == [1]


async def test_an_operator_can_switch_previews_off(platform: Platform, site: Site) -> None:
    allow(platform, link_previews=False)
    assert await preview(platform, site.page("/a", ARTICLE)) == []
    assert site.requested == []


async def test_requests_go_through_the_operators_proxy(platform: Platform, site: Site) -> None:
    # A request to a proxy names the whole URL.
    def answer(request: web.Request) -> web.Response:
        return web.Response(text=meta(og__title=f"proxied {request.url}"), content_type="text/html")

    site.serve("/page", answer)
    allow(platform, outgoing_proxy=site.url)
    (embed,) = await preview(platform, "http://elsewhere.example/page")
    assert embed["title"] == "proxied http://elsewhere.example/page"


async def test_links_to_this_server_have_no_preview(platform: Platform, site: Site) -> None:
    allow(platform, public_url=site.url)
    assert await preview(platform, site.page("/a", ARTICLE)) == []
    assert site.requested == []


# What an outgoing request may do


async def test_private_addresses_are_not_requested_not_even_by_redirect(platform: Platform, site: Site) -> None:
    link = site.page("/a", ARTICLE)
    platform.allow_private_addresses(False)
    platform.services.resources.add(LinkPreviews(platform.services))
    assert await preview(platform, f"{link} http://localhost:1/ http://[::1]/") == []
    assert site.requested == []


@pytest.mark.parametrize("target", ["ftp://x.example/", "file:///etc/passwd", "http://u:p@127.0.0.1/", "http://["])
async def test_a_redirect_to_what_is_not_allowed_ends_it(platform: Platform, site: Site, target: str) -> None:
    assert await preview(platform, site.redirect("/r", target)) == []
    assert site.requested == ["/r"]


async def test_redirects_are_followed_a_few_times(platform: Platform, site: Site) -> None:
    site.page("/end", ARTICLE)
    site.redirect("/2", "/end")
    link = site.redirect("/1", f"{site.url}/2")
    assert [embed["url"] for embed in await preview(platform, link)] == [link]
    assert await preview(platform, site.redirect("/loop", "/loop")) == []
    assert site.requested.count("/loop") == 5


async def test_a_page_that_never_ends_is_read_only_at_its_beginning(platform: Platform, site: Site) -> None:
    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/html"})
        await response.prepare(request)
        await response.write(ARTICLE.partition("</head>")[0].encode())
        try:
            while True:
                await response.write(b"<p>" * 20_000)
        except (ConnectionError, RuntimeError):
            return response

    (embed,) = await preview(platform, site.handle("/endless", endless))
    assert embed["title"] == "A title"


async def test_a_server_that_hangs_is_given_up(platform: Platform, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetcher, "_SECONDS", 0.2)
    never = asyncio.Event()

    async def hang(_: web.Request) -> web.Response:
        await never.wait()
        return web.Response()

    good = site.page("/a", ARTICLE)
    embeds = await preview(platform, f"{site.handle('/hang', hang)} {good}")
    never.set()
    assert [embed["url"] for embed in embeds] == [good]


async def test_a_message_is_given_up_after_a_few_attempts(platform: Platform, site: Site) -> None:
    owner, _, url = await guild_of(platform)
    sent = await say(owner, url, site.page("/a", ARTICLE))
    async with platform.database.transaction() as tx:
        await tx.execute(Query(update(preview_requests).values(attempts=ATTEMPTS_MAX)))
    await attach(platform)
    assert (site.requested, await embeds_of(owner, url, sent)) == ([], [])
    async with platform.database.read() as reader:
        assert await reader.scalar(Query(select(func.count()).select_from(preview_requests))) == 0


async def test_a_request_that_another_process_has_claimed_waits(platform: Platform, site: Site) -> None:
    owner, _, url = await guild_of(platform)
    await say(owner, url, site.page("/a", ARTICLE))
    first, second = PreviewWorker(platform.services), PreviewWorker(platform.services)
    await asyncio.gather(first.drain(), second.drain())
    assert site.requested == ["/a"]


async def test_links_are_charged_to_the_author_and_those_of_one_over_the_budget_wait(
    platform: Platform, site: Site
) -> None:
    much = Allowance(1e9, 1.0)
    rates = Rates(account=Allowance(1.0, 0.001), network=much, anonymous=much)
    charged: list[int | None] = []

    class Noted(Budgets):
        def charge_cpu(self, payer: Payer, seconds: float) -> None:
            charged.append(payer.account)
            super().charge_cpu(payer, seconds)

    platform.services.budgets = Noted(rates, platform.services.budgets.requests)
    allow(platform)
    owner, _, url = await guild_of(platform)
    other, _, other_url = await guild_of(platform)
    sent = await say(owner, url, site.page("/a", ARTICLE))
    await attach(platform)
    assert len(await embeds_of(owner, url, sent)) == 1
    assert set(charged) == {int(owner.id)}
    rates.charge(Payer(int(owner.id), ""), 5.0)
    waiting = await say(owner, url, site.page("/b", ARTICLE))
    cached = await say(owner, url, site.url + "/a")
    others = await say(other, other_url, site.page("/c", ARTICLE))
    await attach(platform)
    assert site.requested == ["/a", "/c"]
    lengths = [len(await embeds_of(owner, url, message)) for message in (waiting, cached)]
    assert [*lengths, len(await embeds_of(other, other_url, others))] == [0, 1, 1]
    # It is tried again, like one whose process has ended.
    rates.charge(Payer(int(owner.id), ""), -5.0)
    async with platform.database.transaction() as tx:
        await tx.execute(Query(update(preview_requests).values(next_attempt_at=1)))
    await attach(platform)
    assert site.requested == ["/a", "/c", "/b"]
    assert len(await embeds_of(owner, url, waiting)) == 1


async def test_the_links_of_a_deleted_message_are_not_fetched(platform: Platform, site: Site) -> None:
    owner, _, url = await guild_of(platform)
    sent = await say(owner, url, site.page("/a", ARTICLE))
    assert (await owner.delete(f"{url}/{sent['id']}")).status == 204
    await attach(platform)
    assert site.requested == []


# What pages say


def page(head: str) -> str:
    return f"<!doctype html><html><head>{head}</head><body></body></html>"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (page("<title> Only\n a &lt;title&gt; </title>"), {"type": "link", "title": "Only a <title>"}),
        (page("<meta name=description content=d>"), {"type": "link", "description": "d"}),
        (page("<meta name=twitter:title content=t><title>x</title>"), {"type": "link", "title": "t"}),
        (meta(og__title="t", og__type="article"), {"type": "article", "title": "t"}),
        (meta(og__title="t", twitter__card="summary_large_image"), {"type": "article", "title": "t"}),
        (page("<meta property=og:title content=t><meta name=theme-color content='#0f8'>"),
         {"type": "link", "title": "t", "color": 0x00FF88}),
        (meta(og__title="x" * 300), {"type": "link", "title": "x" * 255 + "\u2026"}),
        (meta(og__title="a\u202eb\u0007c"), {"type": "link", "title": "abc"}),
    ],
)  # fmt: skip
async def test_a_page_says_what_it_is(platform: Platform, site: Site, html: str, expected: dict[str, Any]) -> None:
    link = site.page("/a", html)
    assert await preview(platform, link) == [{**expected, "url": link}]


@pytest.mark.parametrize(
    "html",
    [
        "", "no tags", page(""), page("<script>'<meta property=og:title content=x>'</script>"),
        page("<!-- <meta property=og:title content=x> -->"), "<div>" * 150_000, "<a><b><i>" * 50_000,
        "<table>" * 70_000,
        "<meta " + "a=b " * 120_000 + ">", "<" * 400_000, "&" * 400_000, "<!--" * 100_000, "\0" * 400_000,
        b"\xff\xfe" * 100_000, "<svg><desc>" * 40_000, "<head>" * 80_000, "<template>" * 50_000,
    ],
)  # fmt: skip
async def test_a_hostile_page_has_no_preview_and_takes_no_time(
    platform: Platform, site: Site, html: str | bytes
) -> None:
    async with asyncio.timeout(5):
        assert await preview(platform, site.page("/a", html)) == []


async def test_text_in_another_charset_is_read(platform: Platform, site: Site) -> None:
    def answer(_: web.Request) -> web.Response:
        body = page("<title>Gr\u00fc\u00dfe</title>").encode("latin-1")
        return web.Response(body=body, headers={"content-type": "text/html; charset=ISO-8859-1"})

    (embed,) = await preview(platform, site.serve("/latin", answer))
    assert embed["title"] == "Gr\u00fc\u00dfe"
    declared = page('<meta charset="windows-1251"><title>\u041f\u0440\u0438\u0432\u0435\u0442</title>')
    (embed,) = await preview(platform, site.page("/cyrillic", declared.encode("cp1251")))
    assert embed["title"] == "\u041f\u0440\u0438\u0432\u0435\u0442"

    def unknown(_: web.Request) -> web.Response:
        return web.Response(body=b"<title>x</title>", headers={"content-type": "text/html; charset=no-such"})

    (embed,) = await preview(platform, site.serve("/unknown", unknown))
    assert embed["title"] == "x"


async def test_the_image_of_a_page_is_looked_at_and_proxied(platform: Platform, site: Site) -> None:
    site.page("/picture.png", picture(), content_type="image/png")
    link = site.page("/a/b", meta(og__title="t", og__image="../picture.png", og__image__width="9999"))
    (embed,) = await preview(platform, link)
    thumbnail = embed["thumbnail"]
    proxied = thumbnail.pop("proxy_url")
    assert thumbnail == {
        "url": f"{site.url}/picture.png", "width": 60, "height": 40, "content_type": "image/png"
    }  # fmt: skip
    assert proxied.startswith(f"{platform.services.limits.public_url}/external/")


@pytest.mark.parametrize("body", [b"", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"GIF89a", b"\x89PNG\r\n" * 9])
async def test_an_image_that_is_none_is_left_out(platform: Platform, site: Site, body: bytes) -> None:
    site.page("/picture", body, content_type="image/png")
    (embed,) = await preview(platform, site.page("/a", meta(og__title="t", og__image="/picture")))
    assert "thumbnail" not in embed
    assert await preview(platform, site.url + "/picture") == []


async def test_links_to_images_and_videos_are_shown_themselves(platform: Platform, site: Site) -> None:
    image = site.page("/p.gif", picture("GIF", frames=3), content_type="image/gif")
    video = site.page("/v.mp4", b"....", content_type="video/mp4")
    shown, played = await preview(
        platform, f"{image} {video} {site.page('/s.svg', b'<svg/>', content_type='image/svg+xml')}"
    )
    assert (shown["type"], shown["url"], shown["thumbnail"]["width"]) == ("image", image, 60)
    assert (played["type"], played["url"], played["video"]["url"]) == ("video", video, video)
    assert "/external/" in shown["thumbnail"]["proxy_url"]
    assert "/video/" in played["video"]["proxy_url"]


async def test_pages_with_videos_are_videos_or_animations(platform: Platform, site: Site) -> None:
    site.page("/p.gif", picture("GIF", frames=3), content_type="image/gif")
    site.page("/p.png", picture(), content_type="image/png")
    gif = meta(og__video="/v.mp4", og__video__type="video/mp4", og__image="/p.gif", og__video__width="320",
               og__video__height="200")  # fmt: skip
    player = meta(og__title="t", og__video="https://player.example/1", og__video__type="text/html", og__image="/p.png")
    flash = meta(og__title="t", og__video="/v.swf", og__video__type="application/x-shockwave-flash")
    one, two, three = await preview(
        platform, f"{site.page('/1', gif)} {site.page('/2', player)} {site.page('/3', flash)}"
    )
    assert (one["type"], one["video"]["width"], one["video"]["height"]) == ("gifv", 320, 200)
    assert one["video"]["url"] == f"{site.url}/v.mp4"
    assert (two["type"], two["video"]) == ("video", {"url": "https://player.example/1"})
    assert (three["type"], "video" in three) == ("link", False)


async def test_an_oembed_document_adds_its_author_and_provider(platform: Platform, site: Site) -> None:
    document = {
        "type": "rich", "title": "T", "author_name": "Ann", "author_url": "https://ann.example/", "provider_name": "P",
        "provider_url": "javascript:alert(1)", "html": "<script>alert(1)</script>", "width": 5, "thumbnail_url": "/p",
    }  # fmt: skip
    site.page("/oembed", msgspec.json.encode(document), content_type="application/json")
    site.page("/p", picture(), content_type="image/png")
    link = site.page("/a", page('<link rel="alternate" type="application/json+oembed" href="/oembed?u=1&amp;v=2">'))
    (embed,) = await preview(platform, link)
    assert embed.pop("thumbnail")["url"] == f"{site.url}/p"
    assert embed == {
        "type": "rich", "url": link, "title": "T", "author": {"name": "Ann", "url": "https://ann.example/"},
        "provider": {"name": "P"},
    }  # fmt: skip


@pytest.mark.parametrize("document", [b"[" * 100_000, b"[]", b"null", b"{", b'{"title": {"a": 1}}', b"\xff"])
async def test_a_broken_oembed_document_is_none(platform: Platform, site: Site, document: bytes) -> None:
    site.page("/oembed", document, content_type="application/json")
    head = '<title>t</title><link type="application/json+oembed" href="/oembed">'
    link = site.page("/a", page(head))
    assert await preview(platform, link) == [{"type": "link", "url": link, "title": "t"}]


# What bots send


async def test_images_of_other_servers_in_embeds_and_components_are_proxied(platform: Platform) -> None:
    _, guild, url = await guild_of(platform)
    bot = await bot_of(platform, guild)
    image = {"url": 'https://images.example/a.png?b="c"&d=\\e'}
    embed = {
        "title": "t",
        "image": image,
        "thumbnail": image,
        "author": {"name": "a", "icon_url": image["url"]},
        "footer": {"text": "f", "icon_url": image["url"]},
    }
    base = platform.services.limits.public_url
    (shown,) = (await say(bot, url, "", embeds=[embed]))["embeds"]
    proxied = {
        shown["image"]["proxy_url"], shown["thumbnail"]["proxy_url"], shown["author"]["proxy_icon_url"],
        shown["footer"]["proxy_icon_url"],
    }  # fmt: skip
    (proxy_url,) = proxied
    read = platform.services.links.read_proxied(proxy_url.removeprefix(base))
    assert read is not None
    assert (read.url, read.video) == (image["url"], False)
    gallery = [{"type": 12, "items": [{"media": {"url": image["url"]}}]}]
    sent = await say(bot, url, "", components=gallery, flags=int(MessageFlags.IS_COMPONENTS_V2))
    assert sent["components"][0]["items"][0]["media"]["proxy_url"] == proxy_url
    # A text that looks like a stored URL stays a text.
    text = '"moothall-external:/external/x'
    assert (await say(bot, url, text, embeds=[{"title": text}]))["content"] == text
    # A changed embed is proxied as well, and an image of this server is its own.
    edited = await bot.patch(f"{url}/{sent['id']}", {"components": gallery})
    assert edited.json["components"][0]["items"][0]["media"]["proxy_url"] == proxy_url
    (own,) = (await say(bot, url, "", embeds=[{"image": {"url": f"{base}/embed/avatars/1.png"}}]))["embeds"]
    assert own["image"]["proxy_url"] == own["image"]["url"]
