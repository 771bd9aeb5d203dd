"""What in a text has the shape of a token of this server."""

import re
from typing import Final

from msgspec import Struct

from moothall.objects.ids import Snowflake
from moothall.runtime.secrets import WEBHOOK_TOKEN_LENGTH, hash_token

CANDIDATES_MAX: Final = 5
"""Tokens of each kind that are looked up of one message."""
_ACCOUNT: Final = re.compile(r"(?<![\w-])[\w-]{2,28}\.[\w-]{6}\.[\w-]{38}(?![\w-])", re.ASCII)
_WEBHOOK: Final = re.compile(rf"webhooks/(\d{{1,20}})/([\w-]{{{WEBHOOK_TOKEN_LENGTH}}})(?![\w-])", re.ASCII)


class Candidates(Struct, frozen=True):
    """The hashes of what may be tokens."""

    accounts: tuple[bytes, ...]
    """Of bots and logins."""
    webhooks: tuple[tuple[int, bytes], ...]
    """With the ids of the webhooks."""


def find_candidates(text: str) -> Candidates | None:
    """Find what has the shape of a token, which takes time linear in the length; None if nothing has."""
    if "." not in text and "webhooks/" not in text:
        return None
    accounts = dict.fromkeys(match[0] for match in _ACCOUNT.finditer(text))
    webhooks = dict.fromkeys(
        (int(webhook_id), match[2])
        for match in _WEBHOOK.finditer(text)
        if (webhook_id := Snowflake.read(match[1])) is not None
    )
    if not accounts and not webhooks:
        return None
    return Candidates(
        tuple(hash_token(token) for token in list(accounts)[:CANDIDATES_MAX]),
        tuple((webhook_id, hash_token(token)) for webhook_id, token in list(webhooks)[:CANDIDATES_MAX]),
    )
