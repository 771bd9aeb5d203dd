"""Which addresses an application may have browsers sent to."""

import pytest

from tests.support.harness import Platform

REFUSED = [
    "file:///etc/passwd",
    "FILE:///etc/passwd",
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "java\tscript:alert(1)",
    "\x01javascript:alert(1)",
    "javascript://herald.example/%0aalert(1)",
    "data:text/html,<script>alert(1)</script>",
    "data:text/html;base64,PHNjcmlwdD4=",
    "blob:https://herald.example/1",
    "about:blank",
    "vbscript:x",
    "view-source:https://herald.example",
    "filesystem:https://herald.example/x",
    "intent://herald.example/x",
    "content://herald/x",
    "ws://herald.example/x",
    "ftp://herald.example/x",
    "mailto:person@herald.example",
    "https://user@herald.example/",
    "https://user:secret@herald.example/",
    "https://herald.example@evil.example/",
    "herald://user@done",
    "https://herald.example/#part",
    "https://herald.example/#",
    "herald:/done#part",
    "https://*.herald.example/",
    "https://*/",
    "https://herald.*/callback",
    "herald://*/done",
    "https://herald.example\\@evil.example/",
    "https:\\\\herald.example/",
    "https://herald.example/a\\b",
    "https://herald.example/a\nb",
    "https://herald.example/a\r\nlocation: https://evil.example",
    "https://herald.example/a\x7fb",
    "https://herald.example/a b",
    "https://herald\u3002example/",
    "https://\uff28erald.example/",
    "https://herald.example\uff0fx",
    "https://h\u0435rald.example/",
    "https://herald.example/\u202egpj",
    "https://herald%2eexample/",
    "https://%68erald.example/",
    "https://",
    "https:///callback",
    "https:/callback",
    "https:callback",
    "https://:443/",
    "https://herald.example:99999/",
    "https://herald.example:x/",
    "https://[::1/",
    "https://[::1]x/",
    "https://-herald.example/",
    "//herald.example/callback",
    "/callback",
    "callback",
    "herald:",
    "herald://",
    "",
]
TAKEN = [
    "https://herald.example",
    "https://herald.example/callback?x=1&y=%20",
    "https://herald.example:8443/~user/call(back),1;v=2",
    "https://xn--hrald-bva.example/callback",
    "http://localhost:8000/callback",
    "http://127.0.0.1/callback",
    "http://[::1]:8000/callback",
    "http://herald_web:8000/callback",
    "herald:/done",
    "herald://done",
    "herald:///done",
    "org.example.herald:/oauth2/done",
    "urn:ietf:wg:oauth:2.0:oob",
]


async def test_an_address_that_would_be_run_or_misread_cannot_be_registered(platform: Platform) -> None:
    owner = await platform.person()
    kept = {"redirect_uris": ["https://herald.example/callback"]}
    path = f"/applications/{(await owner.post('/applications', {'name': 'Herald'} | kept)).json['id']}"
    for uri in REFUSED:
        for reply in (
            await owner.post("/applications", {"name": "Herald", "redirect_uris": [uri]}),
            await owner.patch(path, {"redirect_uris": [*kept["redirect_uris"], uri]}),
        ):
            assert reply.status == 400, uri
        assert reply.errors_at("redirect_uris.1"), uri
    assert (await owner.get(path)).json["redirect_uris"] == kept["redirect_uris"]


@pytest.mark.parametrize("uris", [TAKEN[:7], TAKEN[7:]])
async def test_web_addresses_and_schemes_of_ones_own_can_be_registered(platform: Platform, uris: list[str]) -> None:
    owner = await platform.person()
    reply = await owner.post("/applications", {"name": "Herald", "redirect_uris": uris})
    assert (reply.status, reply.json["redirect_uris"]) == (201, uris)
