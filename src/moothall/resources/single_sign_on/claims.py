"""What a provider says about a person, and the username that follows from it."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from moothall.objects import limits
from moothall.objects.email_address import EmailAddress
from moothall.objects.ids import Snowflake
from moothall.objects.text import clean_name
from moothall.resources.identity_provider.queries import ProviderRow

GROUPS_READ: Final = 1_000
"""Groups of a person that are read; a list of more is cut."""
_TEXT_MAX: Final = 255
_SESSION_MAX: Final = 512
_NOT_IN_USERNAMES: Final = re.compile(r"[^a-z0-9_.]+")


class Identity(Struct, frozen=True, kw_only=True):
    """A person as a provider describes them at a login."""

    provider_id: Snowflake
    subject: str
    session: str | None
    """What the provider calls the login."""
    name: str | None
    """What the provider calls the person, for display."""
    username: str
    """What a username here is made of; it may be empty."""
    global_name: str | None
    email: EmailAddress | None
    """An address that the provider has verified."""
    groups: tuple[str, ...]


def identity_of(provider: ProviderRow, claims: Mapping[str, object]) -> Identity:
    """The identity that checked claims describe."""
    email = _address(claims)
    chosen = next(
        (text for name in (provider.username_claim, "preferred_username", "nickname") if (text := _text(claims, name))),
        "" if email is None else email,
    )
    shown = _text(claims, "name")
    session = claims.get("sid")
    return Identity(
        provider_id=provider.id,
        subject=str(claims["sub"]),
        session=session if isinstance(session, str) and 0 < len(session) <= _SESSION_MAX else None,
        name=chosen or None if email is None else str(email),
        username=username_from(chosen),
        global_name=clean_name(shown)[: limits.GLOBAL_NAME_MAX] or None,
        email=email,
        groups=_groups(claims.get(provider.groups_claim)) if provider.groups_claim else (),
    )


def username_from(text: str) -> str:
    """What of a name may be in a username: `Zoë Müller` is `zoe_muller`, `bob@example.org` is `bob`."""
    folded = unicodedata.normalize("NFKD", text.partition("@")[0].lower()).encode("ascii", "ignore").decode()
    joined = _NOT_IN_USERNAMES.sub("_", folded.strip())
    return re.sub(r"\.{2,}", ".", joined)[: limits.USERNAME_MAX].strip("_")


def usernames(identity: Identity) -> Iterator[str]:
    """Usernames to try, the most likely first."""
    base = identity.username or "user"
    if len(base) < limits.USERNAME_MIN:
        base = f"user_{base}"
    yield base
    for number in range(2, 10):
        suffix = str(number)
        yield base[: limits.USERNAME_MAX - len(suffix)] + suffix


def _address(claims: Mapping[str, object]) -> EmailAddress | None:
    if claims.get("email_verified") not in (True, "true"):
        return None
    try:
        return EmailAddress.from_wire(claims.get("email"))
    except ValueError:
        return None


def _text(claims: Mapping[str, object], name: str) -> str:
    value = claims.get(name)
    return value.replace("\0", "")[:_TEXT_MAX] if isinstance(value, str) else ""


def _groups(value: object) -> tuple[str, ...]:
    listed: Sequence[object] = value if isinstance(value, list) else [value]
    return tuple(each for each in listed[:GROUPS_READ] if isinstance(each, str) and each)
