"""A search for a spelling of a URL that leads to this machine: a second of it in the suite, `make fuzz` for long."""

# ruff: noqa: RUF001 that characters look alike is the attack

import os
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, note, settings
from hypothesis import strategies as st

from moothall.runtime.outgoing import Outgoing, OutgoingFailed
from tests.api.listener import Listener, isolate, listening

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "250"))

_DIGITS = (
    "0123456789",
    "０１２３４５６７８９",
    "⓪①②③④⑤⑥⑦⑧⑨",
    "⁰¹²³⁴⁵⁶⁷⁸⁹",
    "₀₁₂₃₄₅₆₇₈₉",
    "𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗",
    "𝟘𝟙𝟚𝟛𝟜𝟝𝟞𝟟𝟠𝟡",
    "🄀⒈⒉⒊⒋⒌⒍⒎⒏⒐",
    "٠١٢٣٤٥٦٧٨٩",
)
_DOTS = (".", ".", ".", "。", "．", "｡", "․", "%2e", "%2E", "..", "%E3%80%82")
_LETTERS = {"l": "ⓛℓＬl", "o": "ⓞｏO", "c": "ⓒℂC", "a": "ⓐªA", "h": "ⓗℎH", "s": "ſⓢS", "t": "ⓣＴ", "x": "ⓧＸ"}
_NOISE = ("\u00ad", "\u200b", "\u200d", "\ufeff", "\u2060", "\t", "\n", "\r", " ", "\x00", "%00", "%20", "/", "\\", "@")

_BASES = ("d", "d", "00d", "0o", "000o", "#x", "#X")
IPV4 = st.one_of(
    st.sampled_from([0x7F000001, 0x7F000001, 0x7F000101, 0x7FFFFFFE, 0]),
    st.integers(0x7F000000, 0x7FFFFFFF),
)


@st.composite
def ipv4_hosts(draw: st.DrawFn) -> str:
    """An address of the loopback as inet_aton reads it: one to four numbers of any base and any padding."""
    address = draw(IPV4)
    count = draw(st.sampled_from([4, 4, 4, 1, 2, 3]))
    last_bits = 8 * (5 - count)
    numbers = [address >> 8 * (3 - index) & 0xFF for index in range(count - 1)]
    numbers.append(address & ((1 << last_bits) - 1))
    bases = draw(
        st.one_of(st.just(["d"] * 4), st.just(["d"] * 4), st.lists(st.sampled_from(_BASES), min_size=4, max_size=4))
    )
    spelled = [
        "0" * base.count("0") + f"{number:{base.lstrip('0')}}" for number, base in zip(numbers, bases, strict=False)
    ]
    dot = draw(st.sampled_from(_DOTS))
    return dot.join(spelled) + draw(st.sampled_from(["", "", "", ".", "..", dot]))


@st.composite
def ipv6_hosts(draw: st.DrawFn) -> str:
    """An address of the loopback, or one that carries one, in brackets."""
    address = draw(IPV4)
    dotted = ".".join(str(address >> shift & 0xFF) for shift in (24, 16, 8, 0))
    pair = f"{address >> 16:x}:{address & 0xFFFF:x}"
    written = draw(
        st.sampled_from(
            [
                "::1",
                "::",
                "0:0:0:0:0:0:0:1",
                "0000:0000:0000:0000:0000:0000:0000:0001",
                f"::{dotted}",
                f"::ffff:{dotted}",
                f"::FFFF:{pair}",
                f"0:0:0:0:0:ffff:{dotted}",
                f"::ffff:0:{dotted}",
                f"64:ff9b::{dotted}",
                f"64:ff9b:1::{dotted}",
                f"2002:{pair}::",
                f"2001::{pair}",
                f"fe80::5efe:{dotted}",
            ]
        )
    )
    zone = draw(st.sampled_from(["", "", "", "%lo", "%25lo", "%1", "%25", "%"]))
    return f"[{written}{zone}]"


def names() -> st.SearchStrategy[str]:
    """A name: each stands for this machine."""
    words = [
        "localhost",
        "localhost.",
        "a.localhost",
        "rebound.example",
        "xn--localhost",
        "ip6-localhost",
        "bücher.example",
    ]
    return st.one_of(st.sampled_from(words), st.text(st.characters(codec="utf-8"), min_size=1, max_size=12))


@st.composite
def disguised(draw: st.DrawFn, hosts: st.SearchStrategy[str]) -> str:
    """A host with characters that normalisation turns back, encoded ones, or noise in between."""
    host = draw(hosts)
    manner = draw(st.sampled_from(["plain", "plain", "digits", "mixed digits", "letters", "encoded", "noise"]))
    if manner == "digits":
        return host.translate(str.maketrans(_DIGITS[0], draw(st.sampled_from(_DIGITS))))
    if manner == "mixed digits":
        return "".join(draw(st.sampled_from(_DIGITS))[int(c)] if c in _DIGITS[0] else c for c in host)
    if manner == "letters":
        return "".join(draw(st.sampled_from(_LETTERS[c])) if c in _LETTERS else c for c in host)
    if manner == "encoded":
        return "".join(f"%{ord(c):02x}" if c.isalnum() and ord(c) < 128 and draw(st.booleans()) else c for c in host)
    if manner == "noise":
        at = draw(st.integers(0, len(host)))
        return host[:at] + draw(st.sampled_from(_NOISE)) + host[at:]
    return host


_USUAL = {"scheme": "http", "slashes": "://", "user": "", "port": ":PORT", "end": "/"}
_UNUSUAL = {
    "scheme": ("https", "HTTP", "hTTp", "ftp", "", "http:http"),
    "slashes": (":", ":/", ":///", ":\\\\", "//", ":/\\"),
    "user": ("user@", "user:pass@", "@", ":@", "8.8.8.8@", "8.8.8.8\\@", "8.8.8.8#@", "8.8.8.8 &@", "8.8.8.8:80@"),
    "port": (":0PORT", ": PORT", ":PORT:80", ":80@", ":PORT#", ":PORT?", ":", ":+PORT"),
    "end": ("", "/a/../b", "?x", "#x", "/?u=http://8.8.8.8/", "@8.8.8.8/", "/@8.8.8.8", "\\@8.8.8.8/"),
}


@st.composite
def urls(draw: st.DrawFn) -> str:
    """A URL that some parser may take to lead to this machine; `PORT` stands for the listener's port."""
    host = draw(disguised(st.one_of(ipv4_hosts(), ipv4_hosts(), ipv6_hosts(), names())))
    parts = dict(_USUAL)
    for part in draw(st.one_of(st.just([]), st.just([]), st.lists(st.sampled_from(sorted(_UNUSUAL)), max_size=2))):
        parts[part] = draw(st.sampled_from(_UNUSUAL[part]))
    return f"{parts['scheme']}{parts['slashes']}{parts['user']}{host}{parts['port']}{parts['end']}"


def look_up_components(host: str, port: int, **_options: Any) -> list[Any]:
    """A name server of the attacker's: numbers are read as the C library does, every name stands for this machine."""
    try:
        packed = socket.inet_aton(host)
    except (OSError, UnicodeError):
        packed = None
    if packed is not None:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (socket.inet_ntoa(packed), port))]
    return [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port)),
        (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", port, 0, 0)),
    ]


@pytest.fixture
async def listener(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Listener]:
    isolate(monkeypatch)
    monkeypatch.setattr("moothall.runtime.name_lookups.socket.getaddrinfo", look_up_components)
    async with listening() as listener:
        yield listener


@pytest.fixture
async def guarded() -> AsyncIterator[Outgoing]:
    outgoing = Outgoing(allow_private=False)
    yield outgoing
    await outgoing.close()


@pytest.fixture
async def unguarded() -> AsyncIterator[Outgoing]:
    outgoing = Outgoing(allow_private=True)
    yield outgoing
    await outgoing.close()


async def request(outgoing: Outgoing, listener: Listener, url: str) -> None:
    """Ask for a URL; any failure but those of the contract ends the test."""
    with suppress(OutgoingFailed):
        await outgoing.post(url.replace("PORT", str(listener.port)), b"", {}, seconds=2, maximum=10)


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(url=urls())
@example(url="http://①②⑦.⓪.⓪.①:PORT/")
@example(url="http://127。0。0。1:PORT/")
@example(url="http://[64:ff9b:1::127.0.0.1]:PORT/")
async def test_no_spelling_of_a_url_leads_to_this_machine(listener: Listener, guarded: Outgoing, url: str) -> None:
    note(ascii(url))
    before = listener.connections
    await request(guarded, listener, url)
    assert listener.connections == before


async def test_the_search_would_find_a_way_past_a_guard_that_is_absent(listener: Listener, unguarded: Outgoing) -> None:
    collected: list[str] = []

    @settings(max_examples=200, database=None, derandomize=True)
    @given(url=urls())
    def collect(url: str) -> None:
        collected.append(url)

    collect()
    for url in collected:
        await request(unguarded, listener, url)
    assert listener.connections > len(collected) // 4
