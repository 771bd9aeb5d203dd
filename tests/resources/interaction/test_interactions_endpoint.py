"""Applications that receive interactions by signed HTTP requests to their interactions endpoint."""

import asyncio
import json
import socket
from typing import Any

import pytest
from aiohttp import web
from msgspec import structs

from moothall.api.storage_quota import FILE_BYTES_MIN, UploadsInFlight
from moothall.resources.interaction.operations.deliver import Deliveries
from moothall.runtime.budgets import Payer
from moothall.runtime.outgoing import AddressRefused, Outgoing, OutgoingFailed
from tests.api.forms import part
from tests.resources.interaction.http_app import (
    http_scenario,
    respond_with,
    respond_with_form,
    set_endpoint_url,
    wait_until,
)
from tests.resources.interaction.scenario import create_scenario
from tests.resources.message.attachment.uploading import picture, stored, usage
from tests.support.harness import Platform
from tests.support.rate_limits import limit

BUTTON = {"type": 1, "components": [{"type": 2, "style": 1, "custom_id": "go", "label": "Go"}]}
MODAL: dict[str, Any] = {
    "custom_id": "form",
    "title": "Form",
    "components": [{"type": 18, "label": "Why", "component": {"type": 4, "custom_id": "why", "style": 1}}],
}


async def test_an_endpoint_responds_to_every_interaction_type_in_the_http_response(platform: Platform) -> None:
    async with http_scenario(platform) as (scenario, app):
        command = await scenario.create_command(
            options=[{"type": 3, "name": "a", "description": "x", "autocomplete": True}]
        )
        app.handle = respond_with(8, {"choices": [{"name": "Dog", "value": "dog"}]})
        focused_options = [{"type": 3, "name": "a", "value": "d", "focused": True}]
        assert (
            await scenario.post_interaction(4, {"id": command["id"], "type": 1, "options": focused_options})
        ).status == 204
        await scenario.deliveries.wait_until_idle()
        (choices,) = scenario.events(scenario.person.id, "APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE")
        assert choices["choices"] == [{"name": "Dog", "value": "dog"}]
        app.handle = respond_with(4, {"content": "hello", "components": [BUTTON]})
        assert (await scenario.post_command(command)).status == 204
        await scenario.deliveries.wait_until_idle()
        (message,) = await scenario.history()
        assert (message["content"], message["type"]) == ("hello", 20)
        app.handle = respond_with(9, MODAL)
        assert (await scenario.click(message, "go")).status == 204
        await scenario.deliveries.wait_until_idle()
        (shown_modal,) = scenario.events(scenario.person.id, "INTERACTION_MODAL_CREATE")
        app.handle = respond_with(7, {"content": "thanks", "components": []})
        entered = [{"type": 18, "component": {"custom_id": "why", "value": "so"}}]
        assert (
            await scenario.post_interaction(5, {"id": shown_modal["id"], "custom_id": "form", "components": entered})
        ).status == 204
        await scenario.deliveries.wait_until_idle()
        (message,) = await scenario.history()
        assert message["content"] == "thanks"
        assert [interaction["type"] for interaction in app.received] == [4, 2, 3, 5]
        assert len(scenario.events(scenario.person.id, "INTERACTION_SUCCESS")) == 4
        assert scenario.events(scenario.person.id, "INTERACTION_FAILURE") == []
        # Interactions sent to an endpoint are not dispatched over the gateway.
        assert scenario.events(scenario.app.bot.id, "INTERACTION_CREATE") == []


async def test_an_endpoint_responds_with_a_form_and_its_files_are_stored(platform: Platform) -> None:
    async with http_scenario(platform) as (scenario, app):
        command = await scenario.create_command()
        body = {"type": 4, "data": {"content": "here", "attachments": [{"id": 0, "description": "A text"}]}}
        app.handle = respond_with_form(
            part("files[0]", b"hello", "a.txt"),
            part("files[1]", b"second", "b.txt"),
            part("payload_json", json.dumps(body).encode(), Content_Type="application/json"),
        )
        assert (await scenario.post_command(command)).status == 204
        await scenario.deliveries.wait_until_idle()
        (message,) = await scenario.history()
        first, second = message["attachments"]
        assert (message["content"], first["filename"], first["description"]) == ("here", "a.txt", "A text")
        assert [await scenario.fetch(each["url"]) for each in (first, second)] == [b"hello", b"second"]


@pytest.mark.parametrize(
    "parts",
    [
        [],
        [b"no form"],
        [part("files[0]", b"x", "a.txt")],
        [part("files[0]", b"x", "a.txt"), part("payload_json", b"{")],
        [part("files[0]", b"x", "a.txt"), part("payload_json", b'{"type": 99}')],
        [part("files[0]", b"x", "a.txt"), part("payload_json", b'{"type": 4, "data": {"embeds": [{}]}}')],
        [part("files[0]", b"x" * (10 * 1024 * 1024 + 1), "a.txt"), part("payload_json", b'{"type": 4}')],
        [part("files[0]", b"x"), part("payload_json", b'{"type": 4}')],
    ],
    ids=["empty", "no form", "no json", "half json", "unknown type", "invalid data", "too large", "no filename"],
)
async def test_an_invalid_form_fails_the_interaction_and_leaves_no_file(platform: Platform, parts: list[bytes]) -> None:
    async with http_scenario(platform) as (scenario, app):
        app.handle = respond_with_form(*parts)
        assert (await scenario.post_command(await scenario.create_command())).status == 204
        await scenario.deliveries.wait_until_idle()
        assert len(scenario.events(scenario.person.id, "INTERACTION_FAILURE")) == 1
        assert (await scenario.history(), await stored(platform)) == ([], [])


async def test_the_files_of_a_form_are_charged_to_the_bot_and_refused_over_its_quota_or_budget(
    platform: Platform,
) -> None:
    async with http_scenario(platform) as (scenario, app):
        command = await scenario.create_command()
        app.handle = respond_with_form(
            part("files[0]", picture(), "a.png"), part("payload_json", b'{"type": 4, "data": {}}')
        )

        async def failures() -> int:
            assert (await scenario.post_command(command)).status == 204
            await scenario.deliveries.wait_until_idle()
            return len(scenario.events(scenario.person.id, "INTERACTION_FAILURE"))

        assert await failures() == 0
        assert await usage(platform) == {int(scenario.app.id): FILE_BYTES_MIN}
        limits = platform.services.limits
        platform.services.limits = structs.replace(limits, storage_quota_bytes=FILE_BYTES_MIN)
        assert await failures() == 1
        platform.services.limits = limits
        budgets = limit(platform, cpu=1.0)
        assert await failures() == 1
        budgets.charge_cpu(Payer(int(scenario.app.id), ""), 5.0)
        assert await failures() == 2
        assert len(await stored(platform)) == 2
        assert len(platform.services.resources[UploadsInFlight]) == 0


async def test_an_endpoint_defers_and_the_application_edits_through_the_api(platform: Platform) -> None:
    async with http_scenario(platform) as (scenario, app):
        app.handle = respond_with(5, {"flags": 64})
        assert (await scenario.post_command(await scenario.create_command())).status == 204
        await scenario.deliveries.wait_until_idle()
        (interaction,) = app.received
        filled = await platform.anonymous.patch(
            scenario.webhook_path(interaction, "/messages/@original"), {"content": "done"}
        )
        assert (filled.json["content"], filled.json["flags"]) == ("done", 64)
        assert (await platform.anonymous.post(scenario.webhook_path(interaction), {"content": "more"})).status == 200


async def test_an_endpoint_returns_202_and_the_application_responds_through_the_api(platform: Platform) -> None:
    async with http_scenario(platform) as (scenario, app):
        assert (await scenario.post_command(await scenario.create_command())).status == 204
        await wait_until(lambda: bool(app.received))
        assert (await scenario.respond(app.received[0], 4, {"content": "later"})).status == 204
        await scenario.deliveries.wait_until_idle()
        assert [m["content"] for m in await scenario.history()] == ["later"]
        assert scenario.events(scenario.person.id, "INTERACTION_FAILURE") == []


async def test_an_interaction_fails_if_no_response_follows_a_202(platform: Platform) -> None:
    async with http_scenario(platform, seconds=1.5) as (scenario, app):
        assert (await scenario.post_command(await scenario.create_command())).status == 204
        await scenario.deliveries.wait_until_idle()
        assert len(scenario.events(scenario.person.id, "INTERACTION_FAILURE")) == 1
        assert (await scenario.respond(app.received[0], 4, {"content": "late"})).code == 10062


def closed_port() -> int:
    """A port of this machine that nothing listens at."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


async def _slow(_interaction: Any) -> web.StreamResponse:
    await asyncio.sleep(60)
    return web.Response()


async def _redirect(_interaction: Any) -> web.StreamResponse:
    raise web.HTTPFound("http://127.0.0.1:1/elsewhere")


def _response(body: str | bytes, status: int = 200) -> Any:
    async def handle(_interaction: Any) -> web.StreamResponse:
        return web.Response(body=body, status=status, content_type="application/json")

    return handle


@pytest.mark.parametrize(
    "handle",
    [
        _response("not JSON"),
        _response(""),
        _response("[]"),
        _response('{"type": "4"}'),
        _response('{"type": 1}'),
        _response('{"type": 99}'),
        _response('{"type": 8, "data": {"choices": []}}'),
        _response('{"type": 4, "data": {"content": ""}}'),
        _response('{"type": 4, "data": {"content": true}}'),
        _response(b'{"type": 4, "data": {"content": "' + b"x" * 1_100_000 + b'"}}'),
        _response('{"type": 4, "data": {"content": "x"}}', 500),
        _response('{"type": 4, "data": {"content": "x"}}', 404),
        _slow,
        _redirect,
    ],
    ids=lambda handle: getattr(handle, "__name__", ""),
)
async def test_an_invalid_http_response_fails_the_interaction(platform: Platform, handle: Any) -> None:
    # Only a slow endpoint is waited for so long: every other one fails the interaction when it has responded.
    async with http_scenario(platform, seconds=1.5 if handle is _slow else 30) as (scenario, app):
        app.handle = handle
        assert (await scenario.post_command(await scenario.create_command())).status == 204
        await scenario.deliveries.wait_until_idle()
        (failed,) = scenario.events(scenario.person.id, "INTERACTION_FAILURE")
        assert failed["nonce"] == "1"
        assert await scenario.history() == []
        assert app.requests == 1
        assert (await scenario.respond(app.received[0], 4, {"content": "late"})).code == 10062


async def test_a_refused_connection_is_retried_once_before_the_interaction_fails(platform: Platform) -> None:
    async with http_scenario(platform) as (scenario, _app):
        await set_endpoint_url(scenario, f"http://127.0.0.1:{closed_port()}/interactions")
        assert (await scenario.post_command(await scenario.create_command())).status == 204
        # Well before the timer.
        await asyncio.wait_for(scenario.deliveries.wait_until_idle(), 15)
        assert len(scenario.events(scenario.person.id, "INTERACTION_FAILURE")) == 1


async def test_private_addresses_are_requested_only_if_the_operator_allows_it(platform: Platform) -> None:
    async with http_scenario(platform, seconds=0.5, private=False) as (scenario, app):
        for url in (app.url, app.url.replace("127.0.0.1", "localhost")):
            await set_endpoint_url(scenario, url)
            assert (await scenario.post_command(await scenario.create_command())).status == 204
            await scenario.deliveries.wait_until_idle()
        assert (app.requests, len(scenario.events(scenario.person.id, "INTERACTION_FAILURE"))) == (0, 2)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "10.1.2.3",
        "192.168.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "100.64.0.1",
        "224.0.0.1",
        "[::1]",
        "[fe80::1]",
        "[fd00::1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "localhost",
        "a.localhost",
    ],
)
async def test_private_addresses_are_refused(host: str) -> None:
    outgoing = Outgoing(allow_private=False)
    with pytest.raises(AddressRefused):
        await outgoing.post(f"http://{host}:8080/", b"", {}, seconds=2, maximum=10)
    await outgoing.close()


@pytest.mark.parametrize(
    "host", ["127.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.0.0.1.", "1.0.0.127.in-addr.arpa"]
)
async def test_other_spellings_of_private_addresses_are_refused(host: str) -> None:
    outgoing = Outgoing(allow_private=False)
    with pytest.raises(OutgoingFailed):
        await outgoing.post(f"http://{host}:8080/", b"", {}, seconds=2, maximum=10)
    await outgoing.close()


async def test_a_connection_lost_before_the_response_is_retried_once(platform: Platform) -> None:
    async with http_scenario(platform) as (scenario, app):
        app.connections_to_close = 1
        app.handle = respond_with(4, {"content": "at last"})
        assert (await scenario.post_command(await scenario.create_command())).status == 204
        await scenario.deliveries.wait_until_idle()
        assert [m["content"] for m in await scenario.history()] == ["at last"]
        app.connections_to_close = 2
        assert (await scenario.post_command(await scenario.create_command())).status == 204
        await scenario.deliveries.wait_until_idle()
        assert (app.requests, len(scenario.events(scenario.person.id, "INTERACTION_FAILURE"))) == (4, 1)


async def test_a_slow_endpoint_does_not_delay_other_applications(platform: Platform) -> None:
    released = asyncio.Event()

    async def respond_when_released(_interaction: Any) -> web.StreamResponse:
        await released.wait()
        return web.Response()

    async with http_scenario(platform) as (slow, app), http_scenario(platform) as (quick, other):
        app.handle = respond_when_released
        other.handle = respond_with(4, {"content": "quick"})
        command = await slow.create_command()
        await asyncio.gather(*(slow.post_command(command) for _ in range(60)))
        # Interactions above the limit of concurrent requests fail immediately.
        await wait_until(lambda: len(slow.events(slow.person.id, "INTERACTION_FAILURE")) == 10)
        assert app.requests <= 50
        assert (await quick.post_command(await quick.create_command())).status == 204
        await wait_until(lambda: bool(quick.events(quick.person.id, "INTERACTION_SUCCESS")))
        assert len(slow.events(slow.person.id, "INTERACTION_FAILURE")) == 10
        released.set()
        await slow.deliveries.wait_until_idle()
        assert len(slow.events(slow.person.id, "INTERACTION_FAILURE")) == 60


async def test_closing_the_deliveries_leaves_no_task_running(platform: Platform) -> None:
    before = asyncio.all_tasks()
    async with http_scenario(platform) as (scenario, app):
        app.handle = _slow
        assert (await scenario.post_command(await scenario.create_command())).status == 204
        await wait_until(lambda: bool(app.received))
        deliveries = platform.services.resources[Deliveries]
        await deliveries.close()
        assert scenario.events(scenario.person.id, "INTERACTION_FAILURE") == []
        await asyncio.wait_for(deliveries.wait_until_idle(), 15)
    await wait_until(lambda: not {task for task in asyncio.all_tasks() - before if "deliver" in repr(task)})


async def test_a_response_through_the_api_stops_the_timer(platform: Platform) -> None:
    scenario = await create_scenario(platform, seconds=60)
    interaction = await scenario.use_command(await scenario.create_command())
    assert (await scenario.respond(interaction, 5)).status == 204
    await asyncio.wait_for(scenario.deliveries.wait_until_idle(), 15)


async def test_invalid_urls_and_unknown_hosts_raise_outgoing_failed() -> None:
    outgoing = Outgoing(allow_private=False)
    for url in ("http://nowhere.invalid/", "nonsense", "ftp://example.com/", "http://[::1", "http://:8080/"):
        with pytest.raises(OutgoingFailed):
            await outgoing.post(url, b"", {}, seconds=3, maximum=10)
    await outgoing.close()
