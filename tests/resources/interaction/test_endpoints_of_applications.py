"""Applications that hear of interactions by signed HTTP requests."""

import asyncio
import socket
import time
from typing import Any

import pytest
from aiohttp import web

from moothall.kernel.outgoing import AddressRefused, Outgoing, OutgoingFailed
from moothall.resources.interaction.operations.deliver import Deliveries
from tests.harness import Platform
from tests.resources.interaction.endpoint import answering, http_stage, point, until
from tests.resources.interaction.stage import set_stage

BUTTON = {"type": 1, "components": [{"type": 2, "style": 1, "custom_id": "go", "label": "Go"}]}
MODAL: dict[str, Any] = {
    "custom_id": "form",
    "title": "Form",
    "components": [{"type": 18, "label": "Why", "component": {"type": 4, "custom_id": "why", "style": 1}}],
}


async def test_an_application_answers_everything_in_its_responses(platform: Platform) -> None:
    async with http_stage(platform) as (stage, app):
        command = await stage.command(options=[{"type": 3, "name": "a", "description": "x", "autocomplete": True}])
        app.handle = answering(8, {"choices": [{"name": "Dog", "value": "dog"}]})
        typed = [{"type": 3, "name": "a", "value": "d", "focused": True}]
        assert (await stage.raise_(4, {"id": command["id"], "type": 1, "options": typed})).status == 204
        await stage.deliveries.wait_until_idle()
        (choices,) = stage.heard(stage.person.id, "APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE")
        assert choices["choices"] == [{"name": "Dog", "value": "dog"}]
        app.handle = answering(4, {"content": "hello", "components": [BUTTON]})
        assert (await stage.use(command)).status == 204
        await stage.deliveries.wait_until_idle()
        (message,) = await stage.history()
        assert (message["content"], message["type"]) == ("hello", 20)
        app.handle = answering(9, MODAL)
        assert (await stage.click(message, "go")).status == 204
        await stage.deliveries.wait_until_idle()
        (shown,) = stage.heard(stage.person.id, "INTERACTION_MODAL_CREATE")
        app.handle = answering(7, {"content": "thanks", "components": []})
        entered = [{"type": 18, "component": {"custom_id": "why", "value": "so"}}]
        assert (await stage.raise_(5, {"id": shown["id"], "custom_id": "form", "components": entered})).status == 204
        await stage.deliveries.wait_until_idle()
        (message,) = await stage.history()
        assert message["content"] == "thanks"
        assert [told["type"] for told in app.told] == [4, 2, 3, 5]
        assert len(stage.heard(stage.person.id, "INTERACTION_SUCCESS")) == 4
        assert stage.heard(stage.person.id, "INTERACTION_FAILURE") == []
        # Whoever is told by HTTP hears nothing over the gateway.
        assert stage.heard(stage.app.bot.id, "INTERACTION_CREATE") == []


async def test_an_application_defers_in_its_response_and_follows_up_by_the_api(platform: Platform) -> None:
    async with http_stage(platform) as (stage, app):
        app.handle = answering(5, {"flags": 64})
        assert (await stage.use(await stage.command())).status == 204
        await stage.deliveries.wait_until_idle()
        (told,) = app.told
        filled = await platform.nobody.patch(stage.hook(told, "/messages/@original"), {"content": "done"})
        assert (filled.json["content"], filled.json["flags"]) == ("done", 64)
        assert (await platform.nobody.post(stage.hook(told), {"content": "more"})).status == 200


async def test_an_application_accepts_and_answers_by_the_api(platform: Platform) -> None:
    async with http_stage(platform) as (stage, app):
        assert (await stage.use(await stage.command())).status == 204
        await until(lambda: bool(app.told))
        assert (await stage.answer(app.told[0], 4, {"content": "later"})).status == 204
        await stage.deliveries.wait_until_idle()
        assert [m["content"] for m in await stage.history()] == ["later"]
        assert stage.heard(stage.person.id, "INTERACTION_FAILURE") == []


async def test_whoever_accepts_and_says_nothing_more_is_given_up(platform: Platform) -> None:
    async with http_stage(platform, seconds=0.2) as (stage, app):
        assert (await stage.use(await stage.command())).status == 204
        await stage.deliveries.wait_until_idle()
        assert len(stage.heard(stage.person.id, "INTERACTION_FAILURE")) == 1
        assert (await stage.answer(app.told[0], 4, {"content": "late"})).code == 10062


def closed_port() -> int:
    """A port of this machine that nothing listens at."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


async def _slow(_told: Any) -> web.StreamResponse:
    await asyncio.sleep(5)
    return web.Response()


async def _redirect(_told: Any) -> web.StreamResponse:
    raise web.HTTPFound("http://127.0.0.1:1/elsewhere")


def _said(body: str | bytes, status: int = 200) -> Any:
    async def handle(_told: Any) -> web.StreamResponse:
        return web.Response(body=body, status=status, content_type="application/json")

    return handle


@pytest.mark.parametrize(
    "handle",
    [
        _said("not JSON"),
        _said(""),
        _said("[]"),
        _said('{"type": "4"}'),
        _said('{"type": 1}'),
        _said('{"type": 99}'),
        _said('{"type": 8, "data": {"choices": []}}'),
        _said('{"type": 4, "data": {"content": ""}}'),
        _said('{"type": 4, "data": {"content": 5}}'),
        _said(b'{"type": 4, "data": {"content": "' + b"x" * 1_100_000 + b'"}}'),
        _said('{"type": 4, "data": {"content": "x"}}', 500),
        _said('{"type": 4, "data": {"content": "x"}}', 404),
        _slow,
        _redirect,
    ],
    ids=lambda handle: getattr(handle, "__name__", ""),
)
async def test_an_answer_that_is_none_is_told_to_the_person(platform: Platform, handle: Any) -> None:
    async with http_stage(platform, seconds=0.4) as (stage, app):
        app.handle = handle
        assert (await stage.use(await stage.command())).status == 204
        await stage.deliveries.wait_until_idle()
        (failed,) = stage.heard(stage.person.id, "INTERACTION_FAILURE")
        assert failed["nonce"] == "1"
        assert await stage.history() == []
        assert app.requests == 1
        assert (await stage.answer(app.told[0], 4, {"content": "late"})).code == 10062


async def test_a_connection_that_nobody_takes_is_tried_once_more_and_given_up(platform: Platform) -> None:
    async with http_stage(platform, seconds=1.0) as (stage, _app):
        await point(stage, f"http://127.0.0.1:{closed_port()}/interactions")
        began = time.monotonic()
        assert (await stage.use(await stage.command())).status == 204
        await stage.deliveries.wait_until_idle()
        assert time.monotonic() - began < 0.9
        assert len(stage.heard(stage.person.id, "INTERACTION_FAILURE")) == 1


async def test_private_addresses_are_asked_only_if_the_operator_allows_it(platform: Platform) -> None:
    async with http_stage(platform, seconds=0.5, private=False) as (stage, app):
        for url in (app.url, app.url.replace("127.0.0.1", "localhost")):
            await point(stage, url)
            assert (await stage.use(await stage.command())).status == 204
            await stage.deliveries.wait_until_idle()
        assert (app.requests, len(stage.heard(stage.person.id, "INTERACTION_FAILURE"))) == (0, 2)


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
async def test_a_private_address_is_told_from_others(host: str) -> None:
    outgoing = Outgoing(allow_private=False)
    with pytest.raises(AddressRefused):
        await outgoing.post(f"http://{host}:8080/", b"", {}, seconds=2, maximum=10)
    await outgoing.close()


@pytest.mark.parametrize(
    "host", ["127.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.0.0.1.", "1.0.0.127.in-addr.arpa"]
)
async def test_no_other_spelling_leads_inside(host: str) -> None:
    outgoing = Outgoing(allow_private=False)
    with pytest.raises(OutgoingFailed):
        await outgoing.post(f"http://{host}:8080/", b"", {}, seconds=2, maximum=10)
    await outgoing.close()


async def test_a_connection_lost_before_an_answer_is_made_once_more(platform: Platform) -> None:
    async with http_stage(platform) as (stage, app):
        app.lose = 1
        app.handle = answering(4, {"content": "at last"})
        assert (await stage.use(await stage.command())).status == 204
        await stage.deliveries.wait_until_idle()
        assert [m["content"] for m in await stage.history()] == ["at last"]
        app.lose = 2
        assert (await stage.use(await stage.command())).status == 204
        await stage.deliveries.wait_until_idle()
        assert (app.requests, len(stage.heard(stage.person.id, "INTERACTION_FAILURE"))) == (4, 1)


async def test_a_slow_application_holds_up_no_other(platform: Platform) -> None:
    async with http_stage(platform, seconds=1.5) as (slow, app), http_stage(platform) as (quick, other):
        app.handle = _slow
        other.handle = answering(4, {"content": "quick"})
        command = await slow.command()
        await asyncio.gather(*(slow.use(command) for _ in range(60)))
        # So many at once and no more: the others are given up at once.
        await until(lambda: len(slow.heard(slow.person.id, "INTERACTION_FAILURE")) == 10)
        assert app.requests <= 50
        began = time.monotonic()
        assert (await quick.use(await quick.command())).status == 204
        await until(lambda: bool(quick.heard(quick.person.id, "INTERACTION_SUCCESS")))
        assert time.monotonic() - began < 1.0
        await slow.deliveries.wait_until_idle()
        assert len(slow.heard(slow.person.id, "INTERACTION_FAILURE")) == 60


async def test_nothing_is_left_running_when_the_platform_ends(platform: Platform) -> None:
    before = asyncio.all_tasks()
    async with http_stage(platform) as (stage, app):
        app.handle = _slow
        assert (await stage.use(await stage.command())).status == 204
        await until(lambda: bool(app.told))
        deliveries = Deliveries.of(platform.services)
        await deliveries.close()
        assert stage.heard(stage.person.id, "INTERACTION_FAILURE") == []
        await asyncio.wait_for(deliveries.wait_until_idle(), 1)
    await until(lambda: not {task for task in asyncio.all_tasks() - before if "deliver" in repr(task)})


async def test_an_answer_over_the_gateway_ends_its_waiting(platform: Platform) -> None:
    stage = await set_stage(platform, seconds=60)
    told = await stage.used(await stage.command())
    assert (await stage.answer(told, 5)).status == 204
    await asyncio.wait_for(stage.deliveries.wait_until_idle(), 1)


async def test_names_that_are_none_fail_without_a_word_of_python() -> None:
    outgoing = Outgoing(allow_private=False)
    for url in ("http://nowhere.invalid/", "nonsense", "ftp://example.com/", "http://[::1", "http://:8080/"):
        with pytest.raises(OutgoingFailed):
            await outgoing.post(url, b"", {}, seconds=3, maximum=10)
    await outgoing.close()
