"""What is read of a request before it is anything: where it comes from, and what it takes."""

from collections.abc import MutableMapping
from typing import Any

import pytest

from moothall.api.request.http_request import Request, client_address, is_loopback, network_of


async def nothing() -> MutableMapping[str, Any]:
    return {"type": "http.disconnect"}


def scope(*headers: tuple[bytes, bytes], client: str = "10.0.0.1", path: str = "/api/v10/users/@me") -> dict[str, Any]:
    return {"method": "GET", "path": path, "query_string": b"", "headers": list(headers), "client": (client, 1)}


def proxy(address: str) -> bool:
    return address.startswith("10.")


def local_proxy(address: str) -> bool:
    return proxy(address) or address in {"127.0.0.1", "::1"}


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ([], "10.0.0.1"),
        ([b"203.0.113.9"], "203.0.113.9"),
        ([b"6.6.6.6, 203.0.113.9, 10.0.0.2"], "203.0.113.9"),
        # The client made one up, and the proxy added its own behind it.
        ([b"6.6.6.6", b"203.0.113.9"], "203.0.113.9"),
        ([b"nonsense"], "10.0.0.1"),
        # What cannot be read ends the list: before it stands what the client made up.
        ([b"6.6.6.6, nonsense"], "10.0.0.1"),
        ([b"6.6.6.6, nonsense, 10.0.0.2"], "10.0.0.2"),
        ([b"6.6.6.6, "], "10.0.0.1"),
        ([b"6.6.6.6", b""], "10.0.0.1"),
        ([b", ,203.0.113.9"], "203.0.113.9"),
    ],
)
def test_the_client_is_the_last_address_that_a_trusted_proxy_saw(forwarded: list[bytes], address: str) -> None:
    assert client_address(scope(*((b"x-forwarded-for", value) for value in forwarded)), proxy) == address


@pytest.mark.parametrize(
    ("entry", "address"),
    [
        (b"203.0.113.9:4711", "203.0.113.9"),
        (b"  203.0.113.9:4711\t", "203.0.113.9"),
        (b'"203.0.113.9"', "203.0.113.9"),
        (b'"203.0.113.9:4711"', "203.0.113.9"),
        (b"[2001:db8::1]", "2001:db8::1"),
        (b"[2001:db8::1]:4711", "2001:db8::1"),
        (b'"[2001:DB8:0::1]:4711"', "2001:db8::1"),
        (b"2001:db8::1", "2001:db8::1"),
        (b"[fe80::1%eth0]:80", "fe80::1"),
        (b"fe80::1%eth0", "fe80::1"),
        (b"::ffff:203.0.113.9", "203.0.113.9"),
        (b"[::ffff:203.0.113.9]:80", "203.0.113.9"),
        # A port and an entry of the proxy's own kind.
        (b"203.0.113.9:4711, 10.0.0.2:80", "203.0.113.9"),
        (b"203.0.113.9, ::ffff:10.0.0.2", "203.0.113.9"),
    ],
)
@pytest.mark.parametrize("peer", ["10.0.0.1", "127.0.0.1"])
def test_an_entry_with_a_port_brackets_or_quotes_is_the_address_in_it(entry: bytes, address: str, peer: str) -> None:
    assert client_address(scope((b"x-forwarded-for", entry), client=peer), local_proxy) == address


UNREADABLE = [
    b"",
    b" ",
    b",",
    b", ,",
    b"unknown",
    b"_hidden",
    b"for=203.0.113.9",
    b"client.example.com",
    b"203.0.113.9:",
    b"203.0.113.9:port",
    b"203.0.113.9:1:2",
    b"203.0.113",
    b"203.0.113.9/24",
    b"0177.0.0.1",
    b"2130706433",
    b"[2001:db8::1",
    b"2001:db8::1]:80",
    b"[2001:db8::1]80",
    b"[]",
    b'"',
    b'""',
    b"'127.0.0.1'",
    b"\xb9\xb2\xb3.0.0.1",
    b"127.0.0.1\x00",
    b"localhost",
]
OWN = [
    b"127.0.0.1",
    b"127.0.0.1:4711",
    b"127.8.9.10",
    b"::1",
    b"[::1]:80",
    b"::ffff:127.0.0.1",
    b"[::ffff:7f00:1]",
    b'"127.0.0.1"',
    b"6.6.6.6, 127.0.0.1",
]


@pytest.mark.parametrize("entry", UNREADABLE + OWN)
@pytest.mark.parametrize("peer", ["127.0.0.1", "::1"])
def test_no_entry_of_x_forwarded_for_makes_a_client_of_a_local_proxy_the_machine_itself(
    entry: bytes, peer: str
) -> None:
    address = client_address(scope((b"x-forwarded-for", entry), client=peer), local_proxy)
    request = Request(scope(), nothing, max_body=10, address=address)
    assert not request.loopback
    assert not is_loopback(request.network)


@pytest.mark.parametrize("entry", OWN)
def test_a_forwarded_request_cannot_claim_to_come_from_this_machine(entry: bytes) -> None:
    address = client_address(scope((b"x-forwarded-for", entry)), proxy)
    assert not is_loopback(address)
    assert not is_loopback(network_of(address))


@pytest.mark.parametrize(
    "name", [b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"x-real-ip", b"forwarded", b"via"]
)
@pytest.mark.parametrize("trusts", [True, False])
def test_a_request_that_a_local_proxy_forwards_has_not_the_allowance_of_this_machine(
    name: bytes, *, trusts: bool
) -> None:
    forwarded = scope((name, b"https" if name.endswith(b"proto") else b"127.0.0.1"), client="127.0.0.1")
    assert not is_loopback(client_address(forwarded, lambda _address: trusts))


@pytest.mark.parametrize("peer", ["127.0.0.1", "::1"])
@pytest.mark.parametrize("trusts", [True, False])
def test_a_request_that_comes_directly_from_this_machine_is_its_own(peer: str, *, trusts: bool) -> None:
    direct = scope((b"host", b"localhost:3333"), (b"user-agent", b"curl"), client=peer)
    assert client_address(direct, lambda _address: trusts) == peer


@pytest.mark.parametrize(
    ("host", "local"),
    [
        (b"localhost:3333", True),
        (b"LOCALHOST.", True),
        (b"1.activities.localhost:3333", True),
        (b"127.0.0.1", True),
        (b"127.8.8.8:80", True),
        (b"[::1]:3333", True),
        (b"evil.example", False),
        (b"evil.example:3333", False),
        (b"localhost.evil.example", False),
        (b"127.0.0.1.evil.example", False),
        (b"evillocalhost", False),
        (b"10.0.0.1", False),
        (b"localhost@evil.example", False),
        (b"", False),
    ],
)
@pytest.mark.parametrize("peer", ["127.0.0.1", "::1", ""])
def test_a_page_whose_domain_was_pointed_at_this_machine_has_not_its_allowance(
    host: bytes, peer: str, *, local: bool
) -> None:
    address = client_address(scope((b"host", host), client=peer), lambda _address: False)
    assert address == (peer if local else "unknown")
    assert client_address(scope((b"host", host), client="10.0.0.1"), lambda _address: False) == "10.0.0.1"


def test_a_list_of_thousands_of_proxies_is_not_read_to_its_beginning() -> None:
    judged: list[str] = []

    def trusted(address: str) -> bool:
        judged.append(address)
        return True

    hops = b", ".join(b"10.%d.%d.1" % divmod(number, 250) for number in range(4_000))
    client_address(scope((b"x-forwarded-for", b"6.6.6.6, " + hops)), trusted)
    assert len(judged) < 100


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
    request = Request(scope(), nothing, max_body=10, address=address)
    assert request.network == network


@pytest.mark.parametrize(
    ("accepted", "takes"),
    [(b"gzip, br", True), (b"gzip;q=0.5", True), (b"gzip;q=0", False), (b"br, gzip ; q=0.0, *", False), (b"br", False)],
)
def test_gzip_is_for_those_who_take_it(accepted: bytes, *, takes: bool) -> None:
    assert Request(scope((b"accept-encoding", accepted)), nothing, max_body=10, address="").accepts_gzip is takes


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
    request = Request(scope(path=f"/api/v10{path}"), nothing, max_body=10, address="")
    assert request.redacted_path == shown
