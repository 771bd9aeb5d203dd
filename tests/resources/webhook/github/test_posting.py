"""Execute GitHub-Compatible Webhook: responses and messages."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.resources.webhook.github.payloads import BIG_ID, IGNORED_EVENTS, SUPPORTED_EVENTS, event
from tests.support.harness import Guild, Platform, Reply


async def hooked(platform: Platform) -> tuple[Guild, str]:
    guild = await platform.guild(await platform.person("owner"))
    made = (await guild.owner.post(f"/channels/{guild.general}/webhooks", {"name": "Octo"})).json
    platform.heard.clear()
    return guild, f"/webhooks/{made['id']}/{made['token']}/github"


async def sends(platform: Platform, path: str, kind: str, payload: Any, **query: Any) -> Reply:
    headers = [("x-github-event", kind), ("x-github-delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958")]
    return await platform.anonymous.post(path, payload, headers=headers, **query)


async def test_every_supported_event_is_one_message(platform: Platform) -> None:
    guild, path = await hooked(platform)
    for kind, payload, title in SUPPORTED_EVENTS.values():
        with platform.listening() as heard:
            reply = await sends(platform, path, kind, payload)
        assert (reply.status, reply.body, heard) == (204, b"", ["MESSAGE_CREATE"])
        (message,) = (await guild.owner.get(f"/channels/{guild.general}/messages", limit=1)).json
        assert (message["embeds"][0]["title"], message["author"]["username"]) == (title, "Octo")
        assert (message["content"], message["mentions"], message["mention_everyone"]) == ("", [], False)


async def test_an_ignored_event_is_204_at_once(platform: Platform) -> None:
    _, path = await hooked(platform)
    for kind, payload in IGNORED_EVENTS.values():
        reply = await sends(platform, path, kind, payload)
        assert (reply.status, reply.body) == (204, b"")
    assert platform.heard == []


async def test_a_form_carries_the_same_payload(platform: Platform) -> None:
    guild, path = await hooked(platform)
    kind, payload, title = SUPPORTED_EVENTS["push"]
    reply = await platform.anonymous.post(
        path,
        raw=urlencode({"payload": json.dumps(payload)}).encode(),
        content_type="application/x-www-form-urlencoded",
        headers=[("x-github-event", kind)],
    )
    assert reply.status == 204
    (message,) = (await guild.owner.get(f"/channels/{guild.general}/messages", limit=1)).json
    assert message["embeds"][0]["title"] == title


async def test_a_refused_message_is_an_error_only_with_wait(platform: Platform) -> None:
    _, path = await hooked(platform)
    kind, payload, _ = SUPPORTED_EVENTS["push"]
    assert (await sends(platform, path, kind, payload, thread_id=1)).code == 10003
    assert (await sends(platform, path, kind, payload, thread_id=1, wait=False)).status == 204
    assert platform.heard == []


@pytest.mark.parametrize(
    "body", [[], "text", None, 5, {"issue": [], "action": {}}, {"action": "opened", "issue": 2**90}]
)
async def test_odd_payloads_are_no_server_error(platform: Platform, body: Any) -> None:
    _, path = await hooked(platform)
    for kind in ("issues", "push", "é", "x" * 999):
        assert (await platform.anonymous.post(path, body, headers=[("x-github-event", kind)])).status < 500


async def test_a_stranger_with_a_wrong_token_is_401(platform: Platform) -> None:
    _, path = await hooked(platform)
    assert (await sends(platform, path.replace("/github", "x/github"), "ping", {"zen": "x"})).code == 50027


async def test_large_ids_and_an_answer_survive(platform: Platform) -> None:
    _, path = await hooked(platform)
    raw = json.dumps({**event("opened", issue={"id": BIG_ID * 10**6, "number": BIG_ID, "title": "Big"})}).encode()
    assert (await platform.anonymous.post(path, raw=raw, headers=[("x-github-event", "issues")])).status == 204
    assert str(BIG_ID) in platform.heard_data("MESSAGE_CREATE")[0]["embeds"][0]["title"]
