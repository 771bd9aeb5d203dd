"""What is read of a request before it is anything: where it comes from, and what it takes."""

from collections.abc import MutableMapping
from typing import Any

import pytest

from moothall.kernel.request import Request, client_address


async def nothing() -> MutableMapping[str, Any]:
    return {"type": "http.disconnect"}


def scope(*headers: tuple[bytes, bytes], client: str = "10.0.0.1", path: str = "/api/v10/users/@me") -> dict[str, Any]:
    return {"method": "GET", "path": path, "query_string": b"", "headers": list(headers), "client": (client, 1)}


def proxy(address: str) -> bool:
    return address.startswith("10.")


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ([], "10.0.0.1"),
        ([b"203.0.113.9"], "203.0.113.9"),
        ([b"6.6.6.6, 203.0.113.9, 10.0.0.2"], "203.0.113.9"),
        # The client made one up, and the proxy added its own behind it.
        ([b"6.6.6.6", b"203.0.113.9"], "203.0.113.9"),
        ([b"nonsense"], "10.0.0.1"),
    ],
)
def test_the_client_is_the_last_address_that_a_trusted_proxy_saw(forwarded: list[bytes], address: str) -> None:
    assert client_address(scope(*((b"x-forwarded-for", value) for value in forwarded)), proxy) == address


def test_who_is_no_proxy_cannot_say_who_they_are() -> None:
    assert client_address(scope((b"x-forwarded-for", b"6.6.6.6"), client="203.0.113.9"), proxy) == "203.0.113.9"


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("", ""),
    ],
)
def test_all_addresses_of_one_subscriber_are_counted_as_one(address: str, network: str) -> None:
    request = Request.of(scope(), nothing, most_body=10, address=address)
    assert request.network == network


@pytest.mark.parametrize(
    ("accepted", "takes"),
    [(b"gzip, br", True), (b"gzip;q=0.5", True), (b"gzip;q=0", False), (b"br, gzip ; q=0.0, *", False), (b"br", False)],
)
def test_gzip_is_for_those_who_take_it(accepted: bytes, *, takes: bool) -> None:
    assert Request.of(scope((b"accept-encoding", accepted)), nothing, most_body=10, address="").takes_gzip is takes


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/webhooks/1/secret", "/webhooks/1/***"),
        ("/webhooks/1/secret/messages/2", "/webhooks/1/***/messages/2"),
        ("/webhooks//secret/slack", "/webhooks//***/slack"),
        ("/interactions/1/secret/callback", "/interactions/1/***/callback"),
        ("/guilds/1/webhooks", "/guilds/1/webhooks"),
    ],
)
def test_no_log_shows_a_token(path: str, shown: str) -> None:
    request = Request.of(scope(path=f"/api/v10{path}"), nothing, most_body=10, address="")
    assert request.shown_path == shown
