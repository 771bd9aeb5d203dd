"""Locales of guilds and users (reference: locales)."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

DEFAULT: Final = "en-US"

LOCALES: Final = frozenset(
    {
        "ar", "bg", "cs", "da", "de", "el", "en-GB", "en-US", "es-419", "es-ES", "fi", "fr", "he", "hi", "hr", "hu",
        "id", "it", "ja", "ko", "lt", "nl", "no", "pl", "pt-BR", "ro", "ru", "sv-SE", "th", "tr", "uk", "vi", "zh-CN",
        "zh-TW",
    }
)  # fmt: skip
"""The accepted locale codes."""

_COUNTRIES: Final = {
    "ar": "SA", "bg": "BG", "cs": "CZ", "da": "DK", "de": "DE", "el": "GR", "es-419": "MX", "fi": "FI", "fr": "FR",
    "he": "IL", "hi": "IN", "hr": "HR", "hu": "HU", "id": "ID", "it": "IT", "ja": "JP", "ko": "KR", "lt": "LT",
    "nl": "NL", "no": "NO", "pl": "PL", "ro": "RO", "ru": "RU", "th": "TH", "tr": "TR", "uk": "UA", "vi": "VN",
}  # fmt: skip
"""The likely country of each locale without a region of its own (CLDR, likely subtags)."""

_USUAL: Final = frozenset({DEFAULT, "es-ES"})
"""What a language without its region takes; of other languages the first locale in order."""
_RANGE: Final = re.compile(r"\s*([A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)\s*(?:;\s*q=([01](?:\.[0-9]{0,3})?))?\s*")
_MAX_HEADER: Final = 512


def preferred_locale(accept_language: str | None, available: frozenset[str] = LOCALES) -> str | None:
    """The locale among `available` that an Accept-Language header prefers; None if it names none of them.

    Of languages with the same weight the first one counts (RFC 9110, 12.5.4). `de-AT` takes `de` (RFC 4647, lookup),
    `en` its usual region. What cannot be read is left out.
    """
    ranges = []
    for each in (accept_language or "")[:_MAX_HEADER].split(","):
        match = _RANGE.fullmatch(each)
        if match is not None and (weight := float(match[2] or 1)) > 0:
            ranges.append((weight, match[1].lower()))
    locales = _by_language(available)
    for _, name in sorted(ranges, key=lambda each: -each[0]):
        locale = locales.get(name) or locales.get(name.partition("-")[0])
        if locale is not None:
            return locale
    return None


@cache
def _by_language(available: frozenset[str]) -> Mapping[str, str]:
    """Locales by their code in lower case, and by their language alone."""
    ordered = sorted(available - _USUAL, reverse=True) + sorted(available & _USUAL)
    return {locale.partition("-")[0]: locale for locale in ordered} | {each.lower(): each for each in available}


def country_of(locale: str) -> str | None:
    """The country code that a locale names or most likely means; None for an unknown locale."""
    region = locale.rpartition("-")[2]
    return _COUNTRIES.get(locale) or (region if len(region) == 2 and region.isupper() else None)
