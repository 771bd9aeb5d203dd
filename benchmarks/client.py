"""The client's table: `make bench-client`, or `python -m benchmarks.client [--seconds N] [--messages N]`.

It drives headless Chromium against a server with a guild of 100,000 members and 500 channels, half of whose messages
are in the first channel. Times are measured inside the page, from the start of its navigation or from a click to the
change of the document. The server, the browser and this program share the machine, so a busy one shows higher times.
"""

import argparse
import asyncio
import json
import shutil
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from playwright.async_api import Browser, Page, Response, async_playwright

from benchmarks.__main__ import free_port, ours, running
from benchmarks.world import Size, World, build

ROUNDS: Final = 5
SWITCHES: Final = 20
MESSAGES_PER_SECOND: Final = 10
WARM_SECONDS: Final = 90
"""Until the page has as many messages and compiled functions as it ever has: what comes later is growth."""
PIXELS_PER_SECOND: Final = 6_000
TIMEOUT_MS: Final = 60_000

_ARGUMENTS: Final = ("--no-sandbox", "--disable-gpu", "--js-flags=--expose-gc", "--disable-background-networking")

_NOTE_FIRSTS: Final = """
window.firsts = {};
const watched = {channel: ".composer, [role=log]", messages: "article.message", members: "aside article, aside button"};
new MutationObserver(() => {
  for (const [name, selector] of Object.entries(watched)) {
    if (!(name in window.firsts) && document.querySelector(selector)) window.firsts[name] = performance.now();
  }
}).observe(document, {childList: true, subtree: true});
"""
"""Notes when the first channel, its messages and its member list appear, in milliseconds since the navigation."""

_SWITCH: Final = """async ({href, name}) => {
  const link = document.querySelector(`a[href$="${href}"]`);
  const started = performance.now();
  link.click();
  const shown = () => document.querySelector("main h1")?.textContent === name
    && document.querySelector("article.message");
  while (!shown()) {
    await new Promise((resolve) => {
      const observer = new MutationObserver(() => { observer.disconnect(); resolve(); });
      observer.observe(document, {childList: true, subtree: true, characterData: true});
    });
  }
  return performance.now() - started;
}"""
"""Click a channel; the milliseconds until its name and its messages are in the document."""

_SCROLL: Final = """async ({seconds, speed}) => {
  const scroller = [...document.querySelectorAll("main *")].find(
    (element) => element.querySelector("article.message") && element.scrollHeight > element.clientHeight
      && getComputedStyle(element).overflowY !== "visible");
  const frames = [], seen = new Set(), end = performance.now() + seconds * 1000;
  let before = performance.now();
  await new Promise((resolve) => {
    const step = (now) => {
      frames.push(now - before);
      scroller.scrollTop -= speed * Math.min(now - before, 50) / 1000;
      before = now;
      for (const article of document.querySelectorAll("article.message")) {
        seen.add(article.getAttribute("aria-labelledby"));
      }
      if (now < end) requestAnimationFrame(step); else resolve();
    };
    requestAnimationFrame(step);
  });
  return {frames: frames.slice(1), seen: seen.size};
}"""
"""Scroll up; the duration of each frame in milliseconds, and how many messages were drawn."""


class Row(NamedTuple):
    """A measurement with its goal."""

    name: str
    value: str
    goal: str
    met: bool


async def main(arguments: argparse.Namespace) -> int:
    """Print the table. Returns 1 if a goal is missed."""
    chromium = shutil.which("chromium")
    if chromium is None:
        print("bench-client: chromium is not installed", file=sys.stderr)
        return 2
    size = Size(members=100_000, channels=500, roles=250, messages=2 * arguments.messages, threads=100)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "data"
        _report(f"building a guild of {size.members:,} members")
        world = await asyncio.to_thread(build, folder, size, sessions=2)
        port = free_port()
        with running(ours(folder, port), port):
            await asyncio.to_thread(_wait_for_server, f"http://127.0.0.1:{port}/healthz")
            async with async_playwright() as playwright:
                browser = await playwright.chromium.launch(executable_path=chromium, args=list(_ARGUMENTS))
                rows = await measure(browser, world, f"http://127.0.0.1:{port}", arguments.seconds)
                await browser.close()
    width = max(len(row.name) for row in rows)
    for row in rows:
        print(f"{row.name:{width}}  {row.value:>34}  {row.goal:<22} {'' if row.met else 'missed'}".rstrip())
    return 0 if all(row.met for row in rows) else 1


async def measure(browser: Browser, world: World, url: str, seconds: int) -> list[Row]:
    """Every row of the table."""
    _report("cold starts")
    rows = await cold_starts(browser, world, url)
    _report("scrolling and switching")
    async with client(browser, world, url) as page:
        await page.goto(channel_url(world, url))
        await page.wait_for_selector("article.message")
        rows.append(await scrolling(page, seconds))
        rows += await switches(page, world)
    _report("memory")
    async with client(browser, world, url) as page:
        await page.goto(channel_url(world, url))
        await page.wait_for_selector("article.message")
        rows.append(await memory(page, world, url, seconds))
    return rows


def _wait_for_server(url: str) -> None:
    """Wait until a server answers, at most three minutes."""
    for _ in range(1_800):
        with suppress(OSError), urllib.request.urlopen(url, timeout=5):  # noqa: S310 this machine's server
            return
        time.sleep(0.1)
    raise TimeoutError(f"{url} does not answer")


def _report(text: str) -> None:
    """Say what is under way."""
    print(f"bench-client: {text}", file=sys.stderr, flush=True)


@asynccontextmanager
async def client(browser: Browser, world: World, url: str) -> AsyncIterator[Page]:
    """A page of a new profile, which is logged in."""
    context = await browser.new_context(locale="en-US", viewport={"width": 1440, "height": 900})
    accounts = json.dumps([{"userId": str(world.facts["people"][0]), "token": world.session_tokens[0]}])
    await context.add_init_script(f"localStorage.setItem('moothall.accounts', {json.dumps(accounts)})")
    await context.add_init_script(_NOTE_FIRSTS)
    page = await context.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    await page.goto(f"{url}/healthz")
    try:
        yield page
    finally:
        await context.close()


def channel_url(world: World, url: str) -> str:
    """The address of the first channel."""
    return f"{url}/channels/{world.guild_id}/{world.channel_id}"


async def cold_starts(browser: Browser, world: World, url: str) -> list[Row]:
    """Opening the first channel of the large guild with an empty cache."""
    firsts: list[dict[str, float]] = []
    scripts = 0
    for _ in range(ROUNDS):
        async with client(browser, world, url) as page:
            responses = _responses_of(page)
            await page.goto(channel_url(world, url), wait_until="commit")
            await page.wait_for_function("() => 'channel' in window.firsts")
            loaded = [each for each in responses if each.url.partition("?")[0].endswith(".js")]
            sizes = await asyncio.gather(*(each.request.sizes() for each in loaded))
            scripts = max(scripts, sum(each["responseBodySize"] for each in sizes))
            await page.wait_for_function("() => 'messages' in window.firsts && 'members' in window.firsts")
            firsts.append(await page.evaluate("window.firsts"))
    messages = statistics.median(first["messages"] for first in firsts)
    opened = statistics.median(max(first.values()) for first in firsts)
    return [
        Row("script before the first channel shows", f"{scripts / 1000:.0f} kB", "at most 200 kB", scripts <= 200_000),
        Row("first messages after a cold start", f"{messages:.0f} ms", "at most 1,000 ms", messages <= 1000),
        Row("guild of 100,000 members, 500 channels", f"{opened:.0f} ms", "at most 1,000 ms", opened <= 1000),
    ]


def _responses_of(page: Page) -> list[Response]:
    """The responses that a page receives from now on."""
    responses: list[Response] = []

    def note(response: Response) -> None:
        responses.append(response)

    page.on("response", note)
    return responses


async def switches(page: Page, world: World) -> list[Row]:
    """From a click on a channel to its messages: for the first time, which asks the server, and again."""
    links = await page.eval_on_selector_all(
        f"nav a[href*='/channels/{world.guild_id}/']",
        "links => links.map(link => [link.getAttribute('href'), link.querySelector('.channel-name')?.textContent])",
    )
    # The community's forum shows posts, not messages.
    others = [link for link in links if link[0].rpartition("/")[2] != str(world.channel_id)]
    shown = [link for link in others if (link[1] or "").startswith("channel-")][:4]
    times: dict[bool, list[float]] = {True: [], False: []}
    visited: set[str] = set()
    for number in range(SWITCHES):
        href, name = shown[number % len(shown)]
        async with asyncio.timeout(TIMEOUT_MS / 1000):
            taken = await page.evaluate(_SWITCH, {"href": href, "name": name})
        times[href in visited].append(taken)
        visited.add(href)
        await page.wait_for_timeout(100)
    new, again = (statistics.median(times[key]) for key in (False, True))
    return [
        Row("switching to a channel seen before", f"{again:.0f} ms", "at most 50 ms", again <= 50),
        Row("switching to a channel for the first time", f"{new:.0f} ms", "", met=True),
    ]


async def scrolling(page: Page, seconds: int) -> Row:
    """The frames of scrolling up through the first channel."""
    async with asyncio.timeout(seconds + TIMEOUT_MS / 1000):
        result: dict[str, Any] = await page.evaluate(_SCROLL, {"seconds": seconds, "speed": PIXELS_PER_SECOND})
    frames = sorted(result["frames"])
    late = sum(frame > 1.5 * 1000 / 60 for frame in frames) / len(frames)
    value = f"{1000 / statistics.mean(frames):.0f} fps, {late:.0%} late, {result['seen']:,} seen"
    return Row("scrolling through messages", value, "60 fps", statistics.mean(frames) <= 1000 / 59)


async def memory(page: Page, world: World, url: str, seconds: int) -> Row:
    """The growth of the script's heap while ten messages a second arrive, extrapolated to an hour."""
    session = await page.context.new_cdp_session(page)

    async def used() -> float:
        await session.send("HeapProfiler.collectGarbage")
        usage = await session.send("Runtime.getHeapUsage")
        return float(usage["usedSize"])

    sender = asyncio.create_task(send_messages(world, url, WARM_SECONDS + seconds))
    await asyncio.sleep(WARM_SECONDS)
    before, started = await used(), time.monotonic()
    await sender
    after, taken = await used(), time.monotonic() - started
    hourly = (after - before) / taken * 3600 / 1e6
    value = f"{after / 1e6:.0f} MB, {hourly:+.0f} MB an hour"
    return Row(f"memory, {seconds} s of ten messages a second", value, "at most +10 MB an hour", hourly <= 10)


async def send_messages(world: World, url: str, seconds: int) -> None:
    """Post messages to the first channel by its webhook."""
    for number in range(seconds * MESSAGES_PER_SECOND):
        started = time.monotonic()
        await asyncio.to_thread(_post, f"{url}/api/v10{world.webhook}", {"content": f"message {number} of the bench"})
        await asyncio.sleep(max(0.0, 1 / MESSAGES_PER_SECOND - (time.monotonic() - started)))


def _post(url: str, body: dict[str, str]) -> None:
    headers = {"content-type": "application/json", "user-agent": "bench"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)  # noqa: S310 this machine's server
    with urllib.request.urlopen(request, timeout=30):  # noqa: S310
        pass


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60, help="how long to scroll, and to receive messages")
    parser.add_argument("--messages", type=int, default=100_000, help="messages in the channel that is scrolled")
    sys.exit(asyncio.run(main(parser.parse_args())))
