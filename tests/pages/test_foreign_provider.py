"""Logging in with a provider that others have written, as people do: at its page, and back."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from html import unescape

import aiohttp
import pytest

from moothall.objects.clock import stopwatch
from tests.pages.browser import Browser
from tests.support.harness import Platform
from tests.support.identity_providers import ProviderServer, SingleSignOn, single_sign_on

_PATIENCE = 60.0


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    """The URL of the provider, which runs in a process of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = (sys.executable, "-m", "oidc_provider_mock", "--port", str(port), "--require-nonce")
    claims = ("--user-claims", '{"sub": "erika", "preferred_username": "Erika", "groups": ["staff"]}')
    process = subprocess.Popen(
        (*command, *claims),
        env=os.environ | {"PYTHONWARNINGS": "ignore"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    started = stopwatch()
    while True:
        try:
            socket.create_connection(("localhost", port), timeout=1).close()
            break
        except OSError:
            assert process.poll() is None
            assert stopwatch() - started < _PATIENCE
    yield f"http://localhost:{port}"
    process.terminate()
    process.wait(10)


async def test_a_person_logs_in_at_the_page_of_the_provider_and_gets_what_groups_give(
    platform: Platform, issuer: str
) -> None:
    server = ProviderServer()
    server.url = issuer
    sso: SingleSignOn = await single_sign_on(platform, server)
    guild = await platform.guild(await platform.person())
    await sso.map_group("staff", guild.id)
    browser = Browser(platform)
    async with aiohttp.ClientSession() as web:
        for _ in range(2):
            sent = await sso.begin(browser)
            assert sent.status == 303, sent.text
            async with web.get(sent.location) as page:
                assert "Authorize Client" in await page.text()
            async with web.post(sent.location, data={"sub": "erika"}, allow_redirects=False) as answer:
                back = unescape(answer.headers["location"])
            path = re.sub(r"\Ahttp://localhost:3333", "", back)
            assert (await browser.visit(path)).status == 303
            assert (await sso.me(browser))["username"] == "erika"
    user_id = (await sso.me(browser))["id"]
    assert (await guild.owner.get(f"/guilds/{guild.id}/members/{user_id}")).status == 200
    async with aiohttp.ClientSession() as web:
        sent = await sso.begin(browser)
        async with web.post(sent.location, data={"action": "deny"}, allow_redirects=False) as answer:
            path = re.sub(r"\Ahttp://localhost:3333", "", answer.headers["location"])
    # It does not say for which request it has refused, so the answer is to none.
    assert (await browser.visit(path)).status == 400
