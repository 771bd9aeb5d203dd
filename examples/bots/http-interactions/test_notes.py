"""Tests of the bot without a gateway: it runs as the process that it is in production."""

import sys

import httpx
import pytest

NOTE = {
    "name": "note",
    "description": "Keep a note",
    "options": [{"name": "text", "description": "What", "type": 3}],
}


@pytest.fixture
async def url(moothall, bot_app):
    """Where the bot serves, after its endpoint and its command are registered."""
    # The platform sends a signed PING and a wrongly signed request before it takes the endpoint.
    bot = await moothall.start_process(
        [sys.executable, "-m", "uvicorn", "notes:app", "--port", "{port}"], interactions="/interactions"
    )
    async with httpx.AsyncClient(
        base_url=moothall.api_url, headers={"Authorization": f"Bot {bot_app.token}"}, timeout=20
    ) as api:
        made = await api.post(f"/applications/{bot_app.application_id}/commands", json=NOTE)
        assert made.status_code == 201, made.text
    return f"http://127.0.0.1:{bot.port}"


async def test_notes_are_kept_for_each_person(url, alice, bob):
    await alice.runs("note", text="buy tea").assert_replied("- buy tea")
    reply = await alice.runs("note", text="drink tea").awaits_reply()

    assert reply.content == "- buy tea\n- drink tea"
    assert reply.ephemeral
    await bob.runs("note").assert_replied("No notes.")


async def test_notes_can_be_forgotten(url, alice):
    reply = await alice.runs("note", text="secret").awaits_reply()

    forgotten = await alice.clicks(reply, "Forget").awaits_reply()

    assert forgotten.content == "No notes."


async def test_requests_that_the_platform_has_not_signed_are_refused(url):
    async with httpx.AsyncClient() as stranger:
        answer = await stranger.post(f"{url}/interactions", json={"type": 1})

    assert answer.status_code == 401
