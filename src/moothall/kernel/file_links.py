"""The URLs of uploaded files: signed, and only good for a day (public reference: signed attachment CDN URLs).

What is stored names a file by a mark, as the value of a key that ends in `url`; whatever leaves the server has its
marks replaced by URLs that are signed at that moment. No request can bring a mark in: the URLs of requests are http,
https or attachment://, and in a text the quotes around it would be escaped.

A client's URL becomes a mark in two cases only: the message that it stands in has this very file, or the URL carries
a signature that was made here, so that its writer was shown the file. Channel, id and name are not secret.
"""

import hmac
import re
import time
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qs

from msgspec import Struct

from moothall.bus import Envelope
from moothall.kernel.events import Event
from moothall.objects.ids import ChannelId, Snowflake

_SCHEME: Final = b"moothall-file:"
_MARKED: Final = re.compile(rb'url":"moothall-file:/([0-9]{1,20})/([0-9]{1,20})/([A-Za-z0-9._-]{1,300})"')
_PATH: Final = re.compile(
    r"/attachments/(?P<channel>[0-9]{1,19})/(?P<file>[0-9]{1,19})/(?P<filename>[A-Za-z0-9._-]{1,300})"
)
_VALID_SECONDS: Final = 24 * 3600
_SAME_SECONDS: Final = 3600
"""URLs that are made within the same hour are equal, so that clients need not fetch a file twice."""
_SIGNATURES_KEPT: Final = 8192


class FilePath(Struct, frozen=True):
    """Which file a URL names."""

    channel_id: ChannelId
    id: Snowflake
    filename: str


def names_files(data: bytes) -> bool:
    """Whether stored JSON has marks in it."""
    return _SCHEME in data


def files_named(data: bytes) -> set[int]:
    """The ids of the files whose marks stored JSON has in it."""
    return {int(file_id) for _, file_id, _ in _MARKED.findall(data)} if _SCHEME in data else set()


def is_file(data: bytes, path: FilePath) -> bool:
    """Whether a stored attachment object is of the file of a path: of its channel, its id and its name."""
    return b'"url":"%b%b"' % (_SCHEME, _in_path(path)) in data


def _now() -> float:
    return time.time()


class FileLinks:
    """Makes and checks URLs, with keys of which the first signs. `base` is the URL of the server."""

    def __init__(self, keys: Sequence[bytes], base: str, *, clock: Callable[[], float] = _now) -> None:
        self._keys = tuple(keys)
        self._prefix = f"{base}/attachments/"
        self._prefix_bytes = self._prefix.encode()
        self._base = base
        self._clock = clock
        named = rb'url":"%b([0-9]{1,19})/([0-9]{1,19})/([A-Za-z0-9._-]{1,300})(?:\?([^"\\]*))?"'
        self._named = re.compile(named % re.escape(self._prefix.encode()))
        self._signature = lru_cache(maxsize=_SIGNATURES_KEPT)(self._sign)

    def sign(self, data: bytes) -> bytes:
        """JSON with a fresh URL for each mark."""
        if _SCHEME not in data:
            return data
        return _MARKED.sub(lambda match: b'url":"%b"' % self._url(*match.groups()), data)

    def sign_all(self, events: Sequence[Event]) -> list[Envelope]:
        """The envelopes of events, as they may leave the server."""
        envelopes = [event.envelope() for event in events]
        for envelope in envelopes:
            data = bytes(envelope.data)
            if _SCHEME in data:
                envelope.data = type(envelope.data)(self.sign(data))
        return envelopes

    def mark(self, data: bytes, own_urls: Iterable[str]) -> bytes:
        """JSON with marks for the URLs of a message's own files, and for URLs that were signed here.

        `own_urls` are the plain URLs of the files that the message has. A signature counts also after it has expired,
        as it does where URLs are refreshed: it says that the file was shown to whoever has it.
        """
        if self._prefix_bytes not in data:
            return data
        own = {path for url in own_urls if (path := self.find(url)) is not None}

        def marked(match: re.Match[bytes]) -> bytes:
            path = _path_of(match)
            if path in own or self.is_authentic(path, (match[4] or b"").decode("latin-1"), expired=True):
                return b'url":"%b%b"' % (_SCHEME, _in_path(path))
            return match[0]

        return self._named.sub(marked, data)

    def url(self, path: FilePath) -> str:
        """A URL of a file, as good as any."""
        parts = str(int(path.channel_id)).encode(), str(int(path.id)).encode(), path.filename.encode()
        return self._url(*parts).decode()

    def plain_url(self, path: FilePath) -> str:
        """The URL of a file without what makes it good."""
        return f"{self._prefix}{int(path.channel_id)}/{int(path.id)}/{path.filename}"

    def plain_urls(self, data: bytes) -> frozenset[str]:
        """The same for all files that stored JSON names."""
        return frozenset(self.plain_url(_path_of(match)) for match in _MARKED.finditer(data))

    def plainly(self, data: bytes) -> bytes:
        """Stored JSON with such URLs for its marks."""
        return _MARKED.sub(lambda match: b'url":"%b"' % self.plain_url(_path_of(match)).encode(), data)

    def find(self, url: str) -> FilePath | None:
        """Which file a URL of this server names, signed or not; None if it names none."""
        return read_path(url[len(self._base) :].partition("?")[0]) if url.startswith(self._prefix) else None

    def is_authentic(self, path: FilePath, query: str, *, expired: bool = False) -> bool:
        """Whether a URL's query was made here, and is still good; if `expired` it need not be."""
        given = {key: values[-1] for key, values in parse_qs(query[:512]).items()}
        try:
            until, since, mac = int(given["ex"], 16), int(given["is"], 16), bytes.fromhex(given["hm"])
        except (KeyError, ValueError):
            return False
        if not expired and until <= self._clock():
            return False
        signed = _signed_text(str(int(path.channel_id)), str(int(path.id)), path.filename, until, since)
        return any(hmac.compare_digest(hmac.digest(key, signed, "sha256"), mac) for key in self._keys)

    def _url(self, channel_id: bytes, file_id: bytes, filename: bytes) -> bytes:
        since = int(self._clock()) // _SAME_SECONDS * _SAME_SECONDS
        return self._signature(channel_id, file_id, filename, since)

    def _sign(self, channel_id: bytes, file_id: bytes, filename: bytes, since: int) -> bytes:
        until = since + _VALID_SECONDS
        named = channel_id.decode(), file_id.decode(), filename.decode()
        mac = hmac.digest(self._keys[0], _signed_text(*named, until, since), "sha256").hex()
        return f"{self._prefix}{'/'.join(named)}?ex={until:x}&is={since:x}&hm={mac}&".encode()


def read_path(path: str) -> FilePath | None:
    """Which file a path names; None if it names none."""
    match = _PATH.fullmatch(path)
    if match is None:
        return None
    return FilePath(ChannelId(Snowflake(match["channel"])), Snowflake(match["file"]), match["filename"])


def _path_of(match: re.Match[bytes]) -> FilePath:
    return FilePath(ChannelId(Snowflake(int(match[1]))), Snowflake(int(match[2])), match[3].decode())


def _in_path(path: FilePath) -> bytes:
    """How a mark goes on after its scheme."""
    return f"/{int(path.channel_id)}/{int(path.id)}/{path.filename}".encode()


def _signed_text(channel_id: str, file_id: str, filename: str, until: int, since: int) -> bytes:
    return f"{channel_id}/{file_id}/{filename}?{until:x}&{since:x}".encode()
