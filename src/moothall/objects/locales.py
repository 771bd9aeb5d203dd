"""Locales of guilds and users (reference: locales)."""

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


def country_of(locale: str) -> str | None:
    """The country code that a locale names or most likely means; None for an unknown locale."""
    region = locale.rpartition("-")[2]
    return _COUNTRIES.get(locale) or (region if len(region) == 2 and region.isupper() else None)
