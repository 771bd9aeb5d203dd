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
