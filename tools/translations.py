"""Writes the catalogues of the pages: the texts of `moothall.pages`, their translations, and what the server reads.

    make translations

A text that is new stands in `locale/<language>/LC_MESSAGES/moothall.po` without a translation afterwards; one that is
gone is removed. Run it again when all are translated: it compiles the file.
"""

import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Final

from babel.messages import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from moothall.pages.translations import DOMAIN, TRANSLATED

WEB: Final = Path(__file__).parents[1] / "src" / "moothall" / "pages"
_METHODS: Final = [("**.py", "python"), ("templates/**.html", "jinja2.ext:babel_extract")]
_OPTIONS: Final = {"templates/**.html": {"newstyle_gettext": "true", "silent": "false"}}
_KEYWORDS: Final = {"gettext": None, "ngettext": (1, 2), "_": None, "translatable": None}
_HEADER: Final = "# The texts of the pages. Terms and form of address are those of web/src/i18n.\n#"


def extracted() -> Catalog:
    """The texts of templates and code, in English."""
    texts = Catalog(project="Moothall", header_comment=_HEADER, fuzzy=False)
    for path, _line, message, _comments, context in extract_from_dir(
        WEB, method_map=_METHODS, options_map=_OPTIONS, keywords=_KEYWORDS
    ):
        texts.add(message, locations=[(path, 0)], context=context)
    return texts


def catalogue_path(language: str) -> Path:
    """Where the translations of a language are."""
    return WEB / "locale" / language / "LC_MESSAGES" / f"{DOMAIN}.po"


def read_catalogue(language: str) -> Catalog:
    """The translations of a language; none if there is no catalogue yet."""
    path = catalogue_path(language)
    if not path.exists():
        return Catalog(
            locale=language,
            project="Moothall",
            version="1",
            header_comment=_HEADER,
            msgid_bugs_address="-",
            last_translator="Moothall",
            language_team=language,
            fuzzy=False,
        )
    with path.open("rb") as file:
        return read_po(file, locale=language, domain=DOMAIN)


def compiled(catalogue: Catalog) -> bytes:
    """A catalogue as `gettext` reads it. Texts without a translation are left out."""
    file = BytesIO()
    write_mo(file, catalogue)
    return file.getvalue()


def untranslated(catalogue: Catalog) -> Iterator[str]:
    """The texts that have no translation, or not all forms of it."""
    for message in catalogue:
        forms = [message.string] if isinstance(message.string, str) else list(message.string or [""])
        if message.id and not all(forms):
            yield str(message.id)


def main() -> None:
    """Update and compile every catalogue."""
    for language in TRANSLATED:
        catalogue = read_catalogue(language)
        catalogue.update(extracted(), no_fuzzy_matching=True, update_creation_date=False)
        catalogue.obsolete.clear()
        path = catalogue_path(language)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            write_po(file, catalogue, width=120, sort_by_file=True, include_lineno=False)
        path.with_suffix(".mo").write_bytes(compiled(catalogue))
        missing = list(untranslated(catalogue))
        print(f"{language}: {len(catalogue)} texts, {len(missing)} without a translation")
        for text in missing:
            print(f"  {text}", file=sys.stderr)


if __name__ == "__main__":
    main()
