"""A server whose public address is https says so with every answer."""

from pathlib import Path
from typing import Any

import pytest

from moothall.app.application import App
from moothall.settings import Settings

PATHS = (
    "/",
    "/nowhere",
    "/login",
    "/developers",
    "/settings/sessions",
    "/style.css",
    "/reference",
    "/healthz",
    "/metrics",
    "/attachments/1/2/a.png",
    "/avatars/1/a.png",
    "/emojis/1.png",
    "/api/v10/gateway",
    "/api/v10/users/@me",
    "/api/v10/nowhere",
    "/api/v10/openapi.json",
    "/api/oauth2/authorize",
)


async def answers(data: Path, **settings: Any) -> dict[str, list[str]]:
    """The header of each path's answer."""
    app = App(Settings(data=data, demo=False, **settings))
    await app.start()
    values_by_path: dict[str, list[str]] = {}
    for path in PATHS:
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any, sent: list[Any] = sent) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "query_string": b"",
            "headers": [(b"host", b"moot.example")],
            "client": ("192.0.2.1", 1),
        }
        await app(scope, receive, send)
        assert sent[0]["status"] < 500
        values_by_path[path] = [
            value.decode() for name, value in sent[0]["headers"] if name == b"strict-transport-security"
        ]
    await app.stop()
    return values_by_path


async def test_every_answer_over_https_keeps_browsers_from_ever_coming_without(tmp_path: Path) -> None:
    values_by_path = await answers(tmp_path, public_url="https://moot.example")
    assert values_by_path == {path: ["max-age=31536000; includeSubDomains"] for path in PATHS}


@pytest.mark.parametrize(
    ("settings", "value"),
    [
        ({}, []),
        ({"public_url": "http://moot.example"}, []),
        ({"public_url": "https://moot.example", "hsts": None}, []),
        ({"public_url": "https://moot.example", "hsts": "max-age=60"}, ["max-age=60"]),
    ],
)
async def test_what_it_says_is_for_https_alone_and_for_the_operator_to_choose(
    tmp_path: Path, settings: dict[str, Any], value: list[str]
) -> None:
    assert await answers(tmp_path, **settings) == dict.fromkeys(PATHS, value)
