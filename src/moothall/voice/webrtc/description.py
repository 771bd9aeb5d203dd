"""What clients and the server tell each other of a peer connection: lines of SDP (RFC 8866, 8839, 8122)."""

import ipaddress
import re
import secrets
import string
from typing import Final, NamedTuple

from msgspec import Struct

from moothall.voice.video.codecs import CODECS, VideoCodec
from moothall.voice.webrtc.extensions import Extensions, read_extensions

DIGESTS: Final = {"sha-256": 32, "sha-384": 48, "sha-512": 64}
"""Digests of certificates that clients may name, and their bytes."""
MAX_DESCRIPTION: Final = 64 * 1024
"""Maximum characters of an offer."""
_ICE_CHARACTERS: Final = string.ascii_letters + string.digits
_UFRAG: Final = re.compile(r"[A-Za-z0-9+/]{4,256}")
_PASSWORD: Final = re.compile(r"[A-Za-z0-9+/]{22,256}")
_OPUS: Final = re.compile(r"a=rtpmap:(\d{1,3}) opus/48000", re.IGNORECASE)
_RTCP_LIKE: Final = range(64, 96)
"""Payload types that would be taken for RTCP on one port (RFC 5761, 4)."""
_CANDIDATE: Final = "1 1 UDP 4261412862"
_TCP_CANDIDATE: Final = "2 1 TCP 1518280447"


class DescriptionError(ValueError):
    """An offer lacks something, or has it in another form."""


class Codec(Struct):
    """A codec that a client has."""

    name: str
    type: str
    payload_type: int
    priority: int = 0
    rtx_payload_type: int | None = None


class Credentials(NamedTuple):
    """The user name and the password of one side of ICE."""

    ufrag: str
    password: str


class Fingerprint(NamedTuple):
    """The digest of a certificate."""

    algorithm: str
    digest: bytes

    def __str__(self) -> str:
        """As SDP has it."""
        return f"{self.algorithm} {self.digest.hex(':').upper()}"


class Offer(NamedTuple):
    """What a client has told of its side."""

    ufrag: str
    fingerprint: Fingerprint
    payload_type: int
    """Of Opus."""
    video: tuple[VideoCodec, ...] = ()
    """The codecs of video, the preferred one first."""
    extensions: Extensions = Extensions()


def new_credentials() -> Credentials:
    """Random credentials of the server's side."""
    return Credentials(_random_text(12), _random_text(32))


def _random_text(length: int) -> str:
    return "".join(secrets.choice(_ICE_CHARACTERS) for _ in range(length))


def read_offer(text: str, codecs: list[Codec]) -> Offer:
    """Read an offer, or some lines of one. Raises DescriptionError."""
    if len(text) > MAX_DESCRIPTION:
        raise DescriptionError("the description is too long")
    lines = text.splitlines()
    ufrag = _first(lines, "a=ice-ufrag:")
    if not _UFRAG.fullmatch(ufrag) or not _PASSWORD.fullmatch(_first(lines, "a=ice-pwd:")):
        raise DescriptionError("the credentials of ICE are missing")
    opus = payload_type(codecs, lines)
    return Offer(
        ufrag, _fingerprint(_first(lines, "a=fingerprint:")), opus, video_codecs(codecs, opus), read_extensions(lines)
    )


def payload_type(codecs: list[Codec], lines: list[str]) -> int:
    """The payload type of Opus, as the codecs or else the lines of SDP have it. Raises DescriptionError."""
    numbers = [each.payload_type for each in codecs if each.name.lower() == "opus"]
    numbers += [int(match[1]) for match in map(_OPUS.match, lines) if match]
    if not numbers:
        raise DescriptionError("Opus is not among the codecs")
    if not _is_payload_type(numbers[0]):
        raise DescriptionError("the payload type of Opus is none")
    return numbers[0]


def video_codecs(codecs: list[Codec], opus: int) -> tuple[VideoCodec, ...]:
    """The codecs of video that are forwarded, the preferred one first. Raises DescriptionError.

    `opus` is the payload type that none of them may have.
    """
    used = {opus}
    chosen: dict[str, VideoCodec] = {}
    for codec in sorted(codecs, key=lambda each: each.priority):
        name = codec.name.upper()
        if codec.type != "video" or name not in CODECS or name in chosen:
            continue
        types = [codec.payload_type] + ([codec.rtx_payload_type] if codec.rtx_payload_type else [])
        if not all(map(_is_payload_type, types)) or len(used | set(types)) != len(used) + len(types):
            raise DescriptionError("the payload types of video are none, or are used twice")
        used.update(types)
        chosen[name] = VideoCodec(name, codec.payload_type, codec.rtx_payload_type or 0)
    return tuple(chosen.values())


def _is_payload_type(number: int) -> bool:
    return 0 <= number < 128 and number not in _RTCP_LIKE


def _first(lines: list[str], prefix: str) -> str:
    return next((line[len(prefix) :].strip() for line in lines if line.startswith(prefix)), "")


def _fingerprint(value: str) -> Fingerprint:
    algorithm, _, digest = value.partition(" ")
    algorithm = algorithm.lower()
    try:
        data = bytes.fromhex(digest.replace(":", ""))
    except ValueError:
        data = b""
    if len(data) != DIGESTS.get(algorithm):
        raise DescriptionError("the fingerprint is missing, or of an unknown digest")
    return Fingerprint(algorithm, data)


def answer(host: str, port: int, credentials: Credentials, fingerprint: Fingerprint, *, tcp: bool) -> str:
    """The lines of the server's side. `tcp` is whether browsers can connect to the port by TCP as well."""
    family = "IP6" if ipaddress.ip_address(host).version == 6 else "IP4"
    fallback = f"a=candidate:{_TCP_CANDIDATE} {host} {port} typ host tcptype passive\n" if tcp else ""
    return (
        f"m=audio {port} ICE/SDP\n"
        f"a=fingerprint:{fingerprint}\n"
        f"c=IN {family} {host}\n"
        f"a=rtcp:{port}\n"
        f"a=ice-ufrag:{credentials.ufrag}\n"
        f"a=ice-pwd:{credentials.password}\n"
        f"a=fingerprint:{fingerprint}\n"
        f"a=candidate:{_CANDIDATE} {host} {port} typ host\n{fallback}"
    )
