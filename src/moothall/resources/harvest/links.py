"""The signed URLs of archives, which are valid for an hour."""

import hmac
from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import parse_qs

from moothall.objects.clock import CLOCK
from moothall.objects.ids import Snowflake

PREFIX: Final = "/harvests/"
_VALID_SECONDS: Final = 3600


class ArchiveLinks:
    """Signs and verifies URLs. The first of `keys` signs, all verify. `base` is the URL of the server."""

    def __init__(self, keys: Sequence[bytes], base: str, *, clock: Callable[[], float] = CLOCK.now) -> None:
        self._keys = tuple(keys)
        self._base = base
        self._clock = clock

    def url(self, harvest_id: Snowflake) -> str:
        """The signed URL of an archive."""
        until = int(self._clock()) + _VALID_SECONDS
        mac = hmac.digest(self._keys[0], _signed_text(harvest_id, until), "sha256").hex()
        return f"{self._base}{PREFIX}{int(harvest_id)}.zip?ex={until:x}&hm={mac}"

    def is_authentic(self, harvest_id: Snowflake, query: str) -> bool:
        """Whether the query of an archive's URL has a valid signature that has not expired."""
        fields = {key: values[-1] for key, values in parse_qs(query[:256]).items()}
        try:
            until, mac = int(fields["ex"], 16), bytes.fromhex(fields["hm"])
        except (KeyError, ValueError):
            return False
        if until <= self._clock():
            return False
        signed = _signed_text(harvest_id, until)
        return any(hmac.compare_digest(hmac.digest(key, signed, "sha256"), mac) for key in self._keys)


def _signed_text(harvest_id: Snowflake, until: int) -> bytes:
    return f"{int(harvest_id)}?{until:x}".encode()
