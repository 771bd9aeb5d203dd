"""Attacks on the people who use the client: what others write, send and embed neither runs nor leads astray.

Most of it the server would refuse. The client does not rely on that: what it shows here is written into the answers
that it receives.
"""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from playwright.async_api import Browser, Response, expect

from tests.clients.client_pages import ClientPage, open_new_guild
from tests.clients.live import Server
from tests.support.web_client import show_message

MARKUP = "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>"
SCRIPT_URL = "javascript:document.title='broken'"
ELSEWHERE = "http://127.0.0.1:9"
"""Another host, which no request may reach."""
DEPTH_MAX = 60
"""Elements inside each other below a message; some of them are its frame."""

BOMBS = {
    "quotes": "> " * 900 + "boom",
    "lists": "".join(f"{'  ' * depth}- boom\n" for depth in range(40)),
    "emphasis": "**_" * 300 + "boom" + "_**" * 300,
    "spoilers": "||" * 900 + "boom",
    "links": "[" * 900 + "boom" + "](https://example.org)" * 40,
    "code": "`" * 1900 + "boom",
}


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false"}


@pytest.fixture
def framing_site(server: Server) -> Iterator[str]:
    """The URL of a page on another origin that shows the client in a frame."""
    body = f"<!doctype html><title>Win a prize</title><iframe src='{server.url}/app/'></iframe>".encode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            del format, args

    site = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=site.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{site.server_address[1]}/"
    site.shutdown()
    thread.join()
    site.server_close()


async def assert_harmless(client: ClientPage) -> None:
    """Check that no script of a message has run, and that none of its links would."""
    assert (await client.page.title()).endswith(" · Moothall")
    assert await client.page.locator("article script, article iframe, article object, article [onerror]").count() == 0
    links = await client.page.locator("article a[href]").evaluate_all("links => links.map(link => link.protocol)")
    assert set(links) <= {"http:", "https:", "mailto:"}


async def test_markup_in_texts_and_names_is_text(browser: Browser, server: Server) -> None:
    (ada,) = await open_new_guild(browser, server.url, "ada_markup")
    await ada.say("Hello")
    await expect(ada.message("Hello")).not_to_contain_text("Sending…")

    def change(message: dict[str, Any]) -> None:
        message["content"] = f"{MARKUP} [click]({SCRIPT_URL}) <{SCRIPT_URL}> [x](data:text/html,{MARKUP})"
        message["author"]["global_name"] = message["author"]["username"] = MARKUP
        message["embeds"] = [
            {
                "type": "rich", "title": MARKUP, "description": MARKUP, "url": SCRIPT_URL,
                "author": {"name": MARKUP, "url": SCRIPT_URL, "proxy_icon_url": f"{ELSEWHERE}/icon.png"},
                "footer": {"text": MARKUP}, "fields": [{"name": MARKUP, "value": MARKUP, "inline": True}],
                "image": {"url": SCRIPT_URL, "proxy_url": f"{ELSEWHERE}/image.png", "width": 9, "height": 9},
            }
        ]  # fmt: skip

    await show_message(ada, change)
    await expect(ada.page.locator("article .content").first).to_contain_text("<script>")
    await expect(ada.page.locator("article .embed").first).to_contain_text("<script>")
    await assert_harmless(ada)
    sources = await ada.page.locator("article img").evaluate_all("images => images.map(image => image.src)")
    assert [source for source in sources if not source.startswith((server.url, "data:"))] == []


async def test_files_with_hostile_names_addresses_and_drawings_stay_files(
    browser: Browser, server: Server, framing_site: str
) -> None:
    (ada,) = await open_new_guild(browser, server.url, "ada_files")
    await ada.say("Hello")
    await expect(ada.message("Hello")).not_to_contain_text("Sending…")
    svg = f"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload=\"{SCRIPT_URL}\"/>"
    responses: list[str] = []

    def note(response: Response) -> None:
        responses.append(response.url)

    def change(message: dict[str, Any]) -> None:
        plain = {"id": "1", "filename": MARKUP, "size": 9, "url": SCRIPT_URL, "proxy_url": SCRIPT_URL}
        drawing = {"id": "2", "content_type": "image/svg+xml", "width": 9, "height": 9, "url": svg, "proxy_url": svg}
        remote = {"id": "3", "content_type": "image/png", "width": 9, "height": 9, "url": f"{framing_site}a.png"}
        message["attachments"] = [
            plain, plain | drawing, plain | remote | {"proxy_url": f"{framing_site}a.png"}
        ]  # fmt: skip

    ada.page.on("response", note)
    await show_message(ada, change)
    await expect(ada.page.locator("article .attachment-file")).to_contain_text("<script>")
    await assert_harmless(ada)
    await ada.page.wait_for_function("() => [...document.querySelectorAll('article img')].every(img => img.complete)")
    assert [url for url in responses if url.startswith(framing_site)] == []
    refusals = [text for text in ada.errors if framing_site in text and "Content Security Policy" in text]
    assert refusals


async def test_components_of_a_malicious_bot_lead_nowhere_else(browser: Browser, server: Server) -> None:
    (ada,) = await open_new_guild(browser, server.url, "ada_components")
    await ada.say("Hello")
    await expect(ada.message("Hello")).not_to_contain_text("Sending…")
    deep: dict[str, Any] = {"type": 10, "content": MARKUP}
    for _ in range(200):
        deep = {"type": 17, "components": [deep]}

    def change(message: dict[str, Any]) -> None:
        media = {"url": f"{ELSEWHERE}/a.png", "proxy_url": f"{ELSEWHERE}/a.png"}
        message["flags"] = 1 << 15
        message["components"] = [
            {"type": 1, "components": [{"type": 2, "style": 5, "label": "Press me", "url": SCRIPT_URL}]},
            {"type": 12, "items": [{"media": media, "description": MARKUP}]},
            {"type": 13, "file": {"url": SCRIPT_URL}, "name": MARKUP},
            {"type": 9, "components": [{"type": 10, "content": MARKUP}], "accessory": {"type": 11, "media": media}},
            {"type": 1, "components": [{"type": 999, "label": MARKUP}]},
            deep,
        ]

    await show_message(ada, change)
    await expect(ada.page.get_by_role("button", name="Press me")).to_be_disabled()
    await assert_harmless(ada)
    sources = await ada.page.locator("article img").evaluate_all("images => images.map(image => image.src)")
    assert [source for source in sources if source.startswith(ELSEWHERE)] == []


async def test_a_message_that_cannot_be_drawn_leaves_the_others_alone(browser: Browser, server: Server) -> None:
    (ada,) = await open_new_guild(browser, server.url, "ada_shapes")
    await ada.say("Hello")
    await ada.say("Broken")
    await expect(ada.message("Broken")).not_to_contain_text("Sending…")

    def change(message: dict[str, Any]) -> None:
        if "Broken" in message["content"]:
            message["components"] = [{"type": 10, "content": 7}, {"type": 3, "options": "none"}]

    await show_message(ada, change)
    await expect(ada.page.get_by_text("This message cannot be shown.")).to_be_visible()
    await expect(ada.message("Hello")).to_be_visible()
    await expect(ada.box).to_be_visible()


async def test_bombs_of_markdown_are_drawn_flat_and_fast(browser: Browser, server: Server) -> None:
    (ada,) = await open_new_guild(browser, server.url, "ada_bombs")
    for bomb in BOMBS.values():
        await ada.say(bomb)
    await ada.say("the last one")
    await expect(ada.message("the last one")).not_to_contain_text("Sending…")
    depth = await ada.page.locator("article.message").evaluate_all(
        """articles => Math.max(...articles.flatMap(article => [...article.querySelectorAll('*')].map(element => {
             let depth = 0;
             for (let each = element; each !== article; each = each.parentElement) depth += 1;
             return depth;
           })))"""
    )
    assert depth <= DEPTH_MAX
    taken = await ada.page.evaluate(
        """async () => { const started = performance.now();
             await new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)));
             return performance.now() - started; }"""
    )
    assert taken < 5_000
    assert ada.errors == []


async def test_no_other_site_shows_the_client_in_a_frame(browser: Browser, framing_site: str) -> None:
    page = await browser.new_page()
    refusals: list[str] = []
    page.on("console", lambda message: refusals.append(message.text))
    await page.goto(framing_site)
    await expect(page.locator("iframe")).to_be_visible()
    await page.wait_for_load_state("networkidle")
    assert [frame.url for frame in page.frames[1:]] == ["chrome-error://chromewebdata/"]
    assert any("frame-ancestors" in text for text in refusals)


async def test_what_scripts_write_as_markup_is_refused_by_the_browser(browser: Browser, server: Server) -> None:
    client = await ClientPage.open(browser, server.url)
    await expect(client.page.get_by_role("heading", name="Log in")).to_be_visible()
    outcome = await client.page.evaluate(
        """markup => {
             try { document.body.innerHTML = markup; } catch (error) { return error.name; }
             return document.title;
           }""",
        MARKUP,
    )
    assert outcome == "TypeError"
    await client.page.evaluate(
        """() => { const link = document.createElement('a'); link.href = "javascript:document.title='broken'";
             document.body.append(link); link.click(); link.remove(); }"""
    )
    await client.page.wait_for_timeout(100)
    assert await client.page.title() == "Moothall"
