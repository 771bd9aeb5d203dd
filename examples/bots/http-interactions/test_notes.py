"""Tests of the bot without a gateway: it runs as the process that it is in production."""

import socket
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
    """Where the bot serves, after its command and its endpoint are registered."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"

    def serves():
        try:
            return httpx.get(f"{url}/health").status_code == 200
        except httpx.TransportError:
            return False

    await moothall.start_process(
        [sys.executable, "-m", "uvicorn", "notes:app", "--port", str(port)],
        environment={"PUBLIC_KEY": bot_app.public_key},
        ready=serves,
    )
    async with httpx.AsyncClient(
        base_url=moothall.api_url, headers={"Authorization": f"Bot {bot_app.token}"}, timeout=20
    ) as api:
        made = await api.post(f"/applications/{bot_app.application_id}/commands", json=NOTE)
        assert made.status_code == 201, made.text
        # The platform sends a signed PING and a wrongly signed request before it takes the URL.
        taken = await api.patch("/applications/@me", json={"interactions_endpoint_url": f"{url}/interactions"})
        assert taken.status_code == 200, taken.text
    return url


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
