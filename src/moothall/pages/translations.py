"""The languages of the pages: which one a reader gets, and its catalogue of texts (gettext).

English is what the code and the templates say; `locale/` has the catalogues, which `tools/translations.py` writes.
"""

import gettext
from functools import cache
from importlib import resources
from typing import Final

from moothall.objects.locales import preferred_locale

DOMAIN: Final = "moothall"
ENGLISH: Final = "en"
TRANSLATED: Final = ("de",)
"""The languages that have a catalogue."""
LANGUAGES: Final = frozenset({ENGLISH, *TRANSLATED})


def translatable(text: str) -> str:
    """`text` itself: marks a text of a table for the catalogues, which is translated where a page shows it."""
    return text


def language_of(locale: str | None, accept_language: str | None) -> str:
    """The language of a page: the account's, else one that the browser prefers, else English."""
    own = preferred_locale(locale, LANGUAGES)
    return own or preferred_locale(accept_language, LANGUAGES) or ENGLISH


@cache
def catalogue(language: str) -> gettext.NullTranslations:
    """The texts of a language. The first call for it reads a file."""
    if language == ENGLISH:
        return gettext.NullTranslations()
    file = resources.files("moothall.pages").joinpath("locale", language, "LC_MESSAGES", f"{DOMAIN}.mo")
    with file.open("rb") as content:
        return gettext.GNUTranslations(content)
