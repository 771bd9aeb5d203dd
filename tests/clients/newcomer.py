"""Measure a newcomer's way: from `make run` to a second person who is logged in with a second factor.

`python -m tests.clients.newcomer` starts the server of this checkout as a newcomer does, without the demo, and does the
rest in Chromium as fast as the screens allow. It prints when each step was done, in seconds from the start.
"""

import asyncio
import os
import re
import signal
import sys
import tempfile
import time

import pyotp
from playwright.async_api import Page, expect

from tests.clients.client_pages import PASSWORD, ClientPage, chromium

PORT = "3390"
_LINK = re.compile(r"http://\S+/setup\?token=\S+")


def say(started: float, what: str) -> None:
    print(f"{time.monotonic() - started:6.1f} s  {what}", flush=True)


async def enable_factor(page: Page) -> str:
    """Switch on codes of an app; return its secret."""
    await page.get_by_role("button", name="Switch on").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Your password").fill(PASSWORD)
    await dialog.get_by_role("button", name="Next").click()
    secret = (await dialog.locator(".totp-secret").inner_text()).replace(" ", "")
    await dialog.get_by_role("textbox", name="Code").fill(pyotp.TOTP(secret).now())
    await dialog.get_by_role("button", name="Switch on").click()
    await dialog.get_by_role("button", name="I have kept them").click()
    return secret


async def walk(link: str, started: float) -> None:
    """Set the instance up, invite a second person, and log in as them with a second factor."""
    url, _, token = link.partition("/setup?token=")
    async with chromium() as browser:
        owner = await ClientPage.open(browser, url, f"/setup?token={token}")
        page = owner.page
        await page.get_by_label("Username").fill("olga")
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Make the account").click()
        say(started, "the first operator has an account")
        await enable_factor(page)
        say(started, "with a second factor")
        await page.get_by_role("link", name="First server").click()
        await page.get_by_label("Name").fill("The Hall")
        await page.get_by_text("Club", exact=True).click()
        await page.get_by_role("button", name="Create", exact=True).click()
        await page.wait_for_url("**/channels/*")
        code = await owner.invite_link()
        say(started, "a server and an invite")

        other = await ClientPage.open(browser, url, f"/app/register?next=/app/invite/{code}")
        page = other.page
        await page.get_by_label("Username").fill("bob")
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Register").click()
        await page.get_by_role("button", name=re.compile("^Join")).click()
        await expect(other.box).to_be_visible()
        say(started, "the second person has joined")
        await page.goto(f"{url}/app/settings/account")
        secret = await enable_factor(page)
        await page.get_by_role("button", name="Log out", exact=True).click()
        await page.get_by_label("Username or email").fill("bob")
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Log in").click()
        # A code is accepted once, and the last one was used to switch it on.
        await page.get_by_role("textbox", name="Code").fill(pyotp.TOTP(secret).at(int(time.time()) + 30))
        await page.get_by_role("button", name="Log in").click()
        await expect(page.locator(".user-names")).to_contain_text("bob")
        say(started, "the second person is logged in with a second factor")


async def main() -> None:
    """Run `make run` in a new data folder, and walk."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as data:
        process = await asyncio.create_subprocess_exec(
            "make", "run", f"PORT={PORT}", f"DATA={data}", "ARGS=--no-demo",
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        if process.stdout is None:
            raise RuntimeError("the output is not read")
        try:
            link = None
            async for line in process.stdout:
                if match := _LINK.search(line.decode()):
                    link = match[0]
                    break
            if link is None:
                sys.exit("the server printed no link")
            say(started, "the server prints its link")
            await walk(link, started)
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            await process.wait()


if __name__ == "__main__":
    asyncio.run(main())
