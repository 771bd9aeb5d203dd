"""Guessing the secret of an application."""

import asyncio

from tests.oauth2.flow import application, post_form
from tests.support.harness import Platform


async def test_forty_secrets_at_once_are_counted_before_any_is_compared(platform: Platform) -> None:
    app = await application(platform)
    form = {"grant_type": "client_credentials", "scope": "identify", "client_id": app.id}
    replies = await asyncio.gather(
        *(post_form(platform, "/oauth2/token", form | {"client_secret": f"x{number}"}) for number in range(40))
    )
    assert sorted(reply.status for reply in replies) == [401] * 10 + [429] * 30


async def test_right_secrets_at_once_do_not_count(platform: Platform) -> None:
    app = await application(platform)
    form = {"grant_type": "client_credentials", "scope": "identify", "client_id": app.id, "client_secret": app.secret}
    replies = await asyncio.gather(*(post_form(platform, "/oauth2/token", form) for _ in range(20)))
    assert {reply.status for reply in replies} == {200}


async def test_a_token_in_the_header_does_not_replace_the_credentials_in_the_body(platform: Platform) -> None:
    app = await application(platform)
    form = {"grant_type": "client_credentials", "scope": "identify"}
    body = {"client_id": app.id, "client_secret": app.secret}
    for header, credentials, status in (
        ("Bot token", body, 200),
        ("Bot token", body | {"client_secret": "wrong"}, 401),
        ("Bot token", {}, 401),
        ("Basic malformed", body, 401),
    ):
        reply = await post_form(platform, "/oauth2/token", form | credentials, [("authorization", header)])
        assert reply.status == status, (header, credentials)
