"""Email addresses of accounts: their normalised form, and the key that is unique among accounts."""

import re
import unicodedata
from typing import ClassVar, Final, Self

from moothall.objects import limits
from moothall.objects.form_codes import FormCode

_ATOM: Final = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\u0080-\U0010ffff-]+"
_LOCAL_PART: Final = rf"{_ATOM}(?:\.{_ATOM})*"
"""A dot-atom (RFC 5321, 4.1.2; RFC 6531, 3.3). `_has_allowed_characters` restricts those beyond ASCII."""
_LABEL: Final = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_DOMAIN: Final = rf"(?:{_LABEL}\.)+(?![0-9]+\Z){_LABEL}"
"""Two labels or more in their ASCII form; the last one is not a number, as an IPv4 address's would be."""
_ENCODED_LABEL: Final = "xn--"
_ENCODED_LABELS_MAX: Final = 16
"""Labels of a domain that is not plain ASCII: each takes eight characters, and tens of microseconds to encode."""
_DOTS: Final = (".", "\u3002")
_DOTTED_I: Final = re.compile("i\u0307+")
_DOTLESS_I: Final = "\u0131"


class EmailAddress(str):
    """A normalised email address. A wire scalar: the text of a client is read by `from_wire` only.

    The local part is NFKC with its letters' case as typed. The domain is lower-case ASCII, one with other
    letters in Punycode. Two texts name the same address if their `key` is equal.
    """

    __slots__ = ()

    FORM_CODE: ClassVar[str] = FormCode.EMAIL_TYPE_INVALID_EMAIL

    def wire(self) -> str:
        """The address as text."""
        return str(self)

    @classmethod
    def from_wire(cls, value: object) -> Self:
        """Normalise an address.

        Raises ValueError for whitespace, control characters, a quoted local part, a domain without a dot or
        refused by IDNA 2008, more than 64 bytes before the `@` (UTF-8), and more than 254 in all.
        """
        address = _normalised(value) if isinstance(value, str) else None
        if address is None:
            raise ValueError("Not a well formed email address.")
        return cls(address)

    @property
    def key(self) -> str:
        """The address with the case of its local part folded, which is unique among accounts."""
        local_part, _, domain = self.rpartition("@")
        return f"{_folded(local_part)}@{domain}"


def _normalised(text: str) -> str | None:
    if len(text) > limits.EMAIL_MAX:
        return None
    # Full-width letters, and a full-width "@", become ASCII. One character can become eighteen.
    text = unicodedata.normalize("NFKC", text)
    if len(text) > limits.EMAIL_MAX:
        return None
    local_part, _, domain = text.rpartition("@")
    ascii_domain = _ascii_domain(domain)
    if (
        ascii_domain is None
        or re.fullmatch(_LOCAL_PART, local_part) is None
        or not _has_allowed_characters(_folded(local_part))
    ):
        return None
    address = f"{local_part}@{ascii_domain}"
    too_long = len(local_part.encode()) > limits.EMAIL_LOCAL_PART_MAX or len(address.encode()) > limits.EMAIL_MAX
    return None if too_long else address


def _ascii_domain(domain: str) -> str | None:
    lower = domain.lower()
    encoded = _ENCODED_LABEL in lower
    if encoded or not lower.isascii():
        if sum(map(domain.count, _DOTS)) >= _ENCODED_LABELS_MAX:
            return None
        import idna  # noqa: PLC0415 most addresses need none of its tables

        try:
            lower = idna.encode(domain, uts46=True, std3_rules=True).decode("ascii")
            # Several texts in Punycode decode to the same label; only the canonical one is valid.
            if encoded and idna.encode(idna.decode(lower)).decode("ascii") != lower:
                return None
        except UnicodeError:
            return None
    return lower if re.fullmatch(_DOMAIN, lower) else None


def _has_allowed_characters(folded: str) -> bool:
    """Whether all characters beyond ASCII are letters, marks or digits that IDNA 2008 allows in names (PVALID).

    Characters that this Python's Unicode version does not assign are refused: their case cannot be folded.
    """
    if folded.isascii():
        return True
    from idna import idnadata, intranges_contain  # noqa: PLC0415

    allowed = idnadata.codepoint_classes["PVALID"]
    if any(unicodedata.combining(atom[0]) for atom in folded.split(".")):
        return False
    return all(
        char.isascii() or (intranges_contain(ord(char), allowed) and unicodedata.category(char) != "Cn")
        for char in folded
    )


def _folded(local_part: str) -> str:
    """Fold the case of a local part, independently of language: a dotted and a dotless i become i."""
    while True:
        folded = unicodedata.normalize("NFKC", local_part.casefold()).replace(_DOTLESS_I, "i")
        folded = _DOTTED_I.sub("i", folded)
        if folded == local_part:
            return folded
        local_part = folded
