"""The URLs of uploaded files: signed, and valid for a day (public reference: signed attachment CDN URLs).

Stored JSON has placeholders for the URLs of files, as the values of keys that end in `url`. Responses and events have
URLs instead, signed when they are sent. A request cannot contain a placeholder: its URLs are http, https or
attachment://, and in a text the quotes around a placeholder would be escaped.

A URL in a request is replaced by a placeholder in two cases only: its message has the file, or the URL has a signature
of this server, which proves that the author has seen the file. Channel id, file id and filename are not secret.

Images and videos of other servers have proxied URLs on this server, so that those servers do not learn the addresses of
readers. A proxied URL is signed and does not expire; what is stored is the URL without this server's own.
"""

import base64
import binascii
import hmac
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qs

from msgspec import Struct
from msgspec.json import decode, encode

from moothall.api.events import Event
from moothall.bus import Envelope
from moothall.objects.clock import CLOCK
from moothall.objects.ids import ChannelId, Snowflake
from moothall.objects.wire import contains

_ANY_PLACEHOLDER: Final = b'":"moothall-'
"""The beginning of both kinds of placeholders. Each response is searched for it once, which takes 3 us in 6 kB."""
_SCHEME: Final = b"moothall-file:"
_PLACEHOLDER: Final = re.compile(rb'url":"moothall-file:/([0-9]{1,20})/([0-9]{1,20})/([A-Za-z0-9._-]{1,300})"')
_PATH: Final = re.compile(
    r"/attachments/(?P<channel>[0-9]{1,19})/(?P<file>[0-9]{1,19})/(?P<filename>[A-Za-z0-9._-]{1,300})"
)
_PROXIED: Final = b'url":"moothall-external:'
_PROXIED_PATH: Final = re.compile(
    r"/external/(?P<mac>[A-Za-z0-9_-]{43})/(?P<kind>image|video)/(?P<url>[A-Za-z0-9_-]{1,5500})"
)
_UNPROXIED: Final = re.compile(rb'"proxy_url":("https?://(?:[^"\\]|\\.){1,4096}")')
_VALID_SECONDS: Final = 24 * 3600
_SAME_SECONDS: Final = 3600
"""URLs of a file made within the same hour are equal, so that clients can cache it."""
_MAX_CACHED_URLS: Final = 8192
_MAX_CACHED_PROXIED_URLS: Final = 1024
"""Those of icons and images that bots send again and again; longer ones than `_MAX_CACHED_LENGTH` are not kept."""
_MAX_CACHED_LENGTH: Final = 512


class FilePath(Struct, frozen=True):
    """The path of a file's URL."""

    channel_id: ChannelId
    id: Snowflake
    filename: str


class ProxiedUrl(Struct, frozen=True):
    """The URL of another server that a proxied URL stands for."""

    url: str
    video: bool


def has_placeholders(data: bytes) -> bool:
    """Whether stored JSON has placeholders."""
    return contains(data, _SCHEME)


def placeholder_file_ids(data: bytes) -> set[int]:
    """The ids of the files whose placeholders are in stored JSON."""
    return {int(file_id) for _, file_id, _ in _PLACEHOLDER.findall(data)} if contains(data, _SCHEME) else set()


def is_attachment_of(data: bytes, path: FilePath) -> bool:
    """Whether a stored attachment object has the channel id, file id and filename of a path."""
    return b'"url":"%b%b"' % (_SCHEME, _placeholder_path(path)) in data


class FileLinks:
    """Signs and verifies URLs. The first of `keys` signs, all verify. `base` is the URL of the server.

    Without `proxies` there are no proxied URLs.
    """

    def __init__(
        self, keys: Sequence[bytes], base: str, *, clock: Callable[[], float] = CLOCK.now, proxies: bool = True
    ) -> None:
        self._keys = tuple(keys)
        self.proxies = proxies
        """Whether images and videos of other servers are passed on."""
        self._prefix = f"{base}/attachments/"
        self._prefix_bytes = self._prefix.encode()
        self._base = base
        self._own = f"{base}/"
        self._proxied_base = b'url":"%b' % base.encode()
        self._clock = clock
        own_url = rb'url":"%b([0-9]{1,19})/([0-9]{1,19})/([A-Za-z0-9._-]{1,300})(?:\?([^"\\]*))?"'
        self._own_url = re.compile(own_url % re.escape(self._prefix.encode()))
        self._signed_url = lru_cache(maxsize=_MAX_CACHED_URLS)(self._sign_path)
        self._proxied_url = lru_cache(maxsize=_MAX_CACHED_PROXIED_URLS)(self._make_proxied_url)

    def sign(self, data: bytes) -> bytes:
        """Replace each placeholder in stored JSON by a signed URL."""
        if not contains(data, _ANY_PLACEHOLDER):
            return data
        data = self.with_proxied_urls(data)
        return _PLACEHOLDER.sub(lambda match: b'url":"%b"' % self._url(*match.groups()), data)

    def with_proxied_urls(self, data: bytes) -> bytes:
        """Replace the placeholders of proxied URLs in stored JSON: those never expire, so the result may be kept."""
        return data.replace(_PROXIED, self._proxied_base) if contains(data, _PROXIED) else data

    def sign_all(self, events: Sequence[Event]) -> list[Envelope]:
        """Make the envelopes of events, with signed URLs."""
        envelopes = [event.envelope() for event in events]
        for envelope in envelopes:
            data = bytes(envelope.data)
            if contains(data, _ANY_PLACEHOLDER):
                envelope.data = type(envelope.data)(self.sign(data))
        return envelopes

    def insert_placeholders(self, data: bytes, own_urls: Iterable[str]) -> bytes:
        """Replace URLs in JSON by placeholders: those of a message's own files, and those signed by this server.

        `own_urls` are the plain URLs of the files that the message has. Expired signatures are accepted, as by the
        endpoint that refreshes URLs: they prove that the author has seen the file.
        """
        if not contains(data, self._prefix_bytes):
            return data
        own = {path for url in own_urls if (path := self.find(url)) is not None}

        def replacement(match: re.Match[bytes]) -> bytes:
            path = _path_of(match)
            if path in own or self.is_authentic(path, (match[4] or b"").decode("latin-1"), expired=True):
                return b'url":"%b%b"' % (_SCHEME, _placeholder_path(path))
            return match[0]

        return self._own_url.sub(replacement, data)

    def url(self, path: FilePath) -> str:
        """The signed URL of a file."""
        fields = str(int(path.channel_id)).encode(), str(int(path.id)).encode(), path.filename.encode()
        return self._url(*fields).decode()

    def plain_url(self, path: FilePath) -> str:
        """The URL of a file without a signature."""
        return f"{self._prefix}{int(path.channel_id)}/{int(path.id)}/{path.filename}"

    def plain_urls(self, data: bytes) -> frozenset[str]:
        """The unsigned URLs of all files whose placeholders are in stored JSON."""
        return frozenset(self.plain_url(_path_of(match)) for match in _PLACEHOLDER.finditer(data))

    def with_plain_urls(self, data: bytes) -> bytes:
        """Replace each placeholder in stored JSON by an unsigned URL."""
        return _PLACEHOLDER.sub(lambda match: b'url":"%b"' % self.plain_url(_path_of(match)).encode(), data)

    def find(self, url: str) -> FilePath | None:
        """The path of a URL of this server, signed or not; None for any other URL."""
        return read_path(url[len(self._base) :].partition("?")[0]) if url.startswith(self._prefix) else None

    def is_authentic(self, path: FilePath, query: str, *, expired: bool = False) -> bool:
        """Whether a URL's query has a valid signature that has not expired; with `expired` it may have."""
        fields = {key: values[-1] for key, values in parse_qs(query[:512]).items()}
        try:
            until, since, mac = int(fields["ex"], 16), int(fields["is"], 16), bytes.fromhex(fields["hm"])
        except (KeyError, ValueError):
            return False
        if not expired and until <= self._clock():
            return False
        signed = _signed_text(str(int(path.channel_id)), str(int(path.id)), path.filename, until, since)
        return any(hmac.compare_digest(hmac.digest(key, signed, "sha256"), mac) for key in self._keys)

    def own_path(self, url: str) -> str | None:
        """The path of a URL of this server, without its query; None for any other URL."""
        return url[len(self._base) :].partition("?")[0].partition("#")[0] if url.startswith(self._own) else None

    def proxy(self, url: str, *, video: bool = False) -> str | None:
        """What is stored as the proxied URL of an image or video of another server; None without proxies.

        A URL of this server is its own.
        """
        if url.startswith(self._own):
            return url
        if not self.proxies:
            return None
        make = self._proxied_url if len(url) <= _MAX_CACHED_LENGTH else self._make_proxied_url
        return make("video" if video else "image", url)

    def proxy_components(self, data: bytes) -> bytes:
        """Replace the `proxy_url` of media of other servers in the JSON of components by what is stored for it."""
        if not self.proxies or not contains(data, b'"proxy_url":"http'):
            return data
        return _UNPROXIED.sub(lambda match: b'"proxy_url":%b' % encode(self.proxy(decode(match[1]))), data)

    def read_proxied(self, path: str) -> ProxiedUrl | None:
        """The URL that the path of a proxied URL stands for; None without a valid signature, and without proxies."""
        match = _PROXIED_PATH.fullmatch(path) if self.proxies else None
        if match is None:
            return None
        mac = _decode(match["mac"])
        if not any(hmac.compare_digest(self._proxied_mac(key, match["kind"], match["url"]), mac) for key in self._keys):
            return None
        return ProxiedUrl(_decode(match["url"]).decode("utf-8", "replace"), match["kind"] == "video")

    def _make_proxied_url(self, kind: str, url: str) -> str:
        text = _encode(url.encode("utf-8", "surrogatepass"))
        return f"moothall-external:/external/{_encode(self._proxied_mac(self._keys[0], kind, text))}/{kind}/{text}"

    @staticmethod
    def _proxied_mac(key: bytes, kind: str, text: str) -> bytes:
        return hmac.digest(key, f"proxied {kind} {text}".encode(), "sha256")

    def _url(self, channel_id: bytes, file_id: bytes, filename: bytes) -> bytes:
        since = int(self._clock()) // _SAME_SECONDS * _SAME_SECONDS
        return self._signed_url(channel_id, file_id, filename, since)

    def _sign_path(self, channel_id: bytes, file_id: bytes, filename: bytes, since: int) -> bytes:
        until = since + _VALID_SECONDS
        fields = channel_id.decode(), file_id.decode(), filename.decode()
        mac = hmac.digest(self._keys[0], _signed_text(*fields, until, since), "sha256").hex()
        return f"{self._prefix}{'/'.join(fields)}?ex={until:x}&is={since:x}&hm={mac}&".encode()


def read_path(path: str) -> FilePath | None:
    """Parse the path of a file's URL; None for any other path."""
    match = _PATH.fullmatch(path)
    if match is None:
        return None
    return FilePath(ChannelId(Snowflake(match["channel"])), Snowflake(match["file"]), match["filename"])


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _decode(text: str) -> bytes:
    """Decode what `_encode` returned; empty for anything else."""
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        return b""


def _path_of(match: re.Match[bytes]) -> FilePath:
    return FilePath(ChannelId(Snowflake(int(match[1]))), Snowflake(int(match[2])), match[3].decode())


def _placeholder_path(path: FilePath) -> bytes:
    """The part of a placeholder after its scheme."""
    return f"/{int(path.channel_id)}/{int(path.id)}/{path.filename}".encode()


def _signed_text(channel_id: str, file_id: str, filename: str, until: int, since: int) -> bytes:
    return f"{channel_id}/{file_id}/{filename}?{until:x}&{since:x}".encode()
