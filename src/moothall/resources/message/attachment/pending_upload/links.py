"""The signed URLs that files are put to."""

import hmac
import re
from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import parse_qs

from moothall.objects import limits
from moothall.objects.clock import CLOCK
from moothall.objects.ids import Snowflake
from moothall.resources.message.attachment.filenames import shown_filename

PREFIX: Final = "/uploads/"
_PATH: Final = re.compile(re.escape(PREFIX) + r"([0-9]{1,19})/[A-Za-z0-9._-]{1,300}")
_NAME: Final = re.compile(r"([0-9]{1,19})-[A-Za-z0-9._-]{1,300}")
_ID_END: Final = 1 << 63


class UploadLinks:
    """Signs and verifies URLs. The first of `keys` signs, all verify. `base` is the URL of the server."""

    def __init__(self, keys: Sequence[bytes], base: str, *, clock: Callable[[], float] = CLOCK.now) -> None:
        self._keys = tuple(keys)
        self._base = base
        self._clock = clock

    def url(self, upload_id: Snowflake, filename: str) -> str:
        """The URL that a file is put to. It is valid for `limits.UPLOAD_URL_SECONDS`."""
        until = int(self._clock()) + limits.UPLOAD_URL_SECONDS
        mac = hmac.digest(self._keys[0], _signed_text(upload_id, until), "sha256").hex()
        return f"{self._base}{PREFIX}{int(upload_id)}/{shown_filename(filename)}?ex={until:x}&hm={mac}"

    def find(self, path: str, query: str) -> Snowflake | None:
        """The upload of a URL; None without a valid signature that has not expired."""
        match = _PATH.fullmatch(path)
        upload_id = None if match is None else _read_id(match[1])
        fields = {key: values[-1] for key, values in parse_qs(query[:256]).items()}
        try:
            until, mac = int(fields["ex"], 16), bytes.fromhex(fields["hm"])
        except (KeyError, ValueError):
            return None
        if upload_id is None or until <= self._clock():
            return None
        signed = _signed_text(upload_id, until)
        authentic = any(hmac.compare_digest(hmac.digest(key, signed, "sha256"), mac) for key in self._keys)
        return upload_id if authentic else None


def upload_filename(upload_id: Snowflake, filename: str) -> str:
    """What clients name an upload by. It has no slash, so that it is one segment of a path."""
    return f"{int(upload_id)}-{shown_filename(filename)}"


def read_upload_filename(name: str) -> Snowflake | None:
    """The upload that a client names; None if it is no such name."""
    match = _NAME.fullmatch(name)
    return None if match is None else _read_id(match[1])


def _read_id(digits: str) -> Snowflake | None:
    return Snowflake(int(digits)) if int(digits) < _ID_END else None


def _signed_text(upload_id: Snowflake, until: int) -> bytes:
    return f"{int(upload_id)}?{until:x}".encode()
