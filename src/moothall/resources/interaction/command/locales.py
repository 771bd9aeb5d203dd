"""In which language somebody is told of commands (interactions: application commands, localization)."""

import re
from collections.abc import Mapping
from typing import Final

from moothall.kernel.context import Context
from moothall.objects.locales import DEFAULT, LOCALES
from moothall.resources.user.queries import select_user

_FALLBACKS: Final = {"en-US": "en-GB", "en-GB": "en-US", "es-419": "es-ES"}
_RANGE: Final = re.compile(r"\s*([A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)\s*(?:;\s*q=([01](?:\.[0-9]{0,3})?))?\s*")
_MAX_HEADER: Final = 512
_BY_FOLDED: Final = {locale.lower(): locale for locale in LOCALES}
_BY_LANGUAGE: Final = {
    **{locale.partition("-")[0]: locale for locale in sorted(LOCALES, reverse=True)},
    "en": DEFAULT,
    "es": "es-ES",
}


async def locale_of(ctx: Context) -> str:
    """The caller's language: that of X-Discord-Locale, else of Accept-Language, else their own."""
    given = ctx.header("x-discord-locale")
    if given is not None and given in LOCALES:
        return given
    accepted = _accepted(ctx.header("accept-language") or "")
    if accepted is not None:
        return accepted
    user = await select_user(ctx.tx, ctx.actor.user_id)
    return DEFAULT if user is None else user.locale


def text_in(texts: Mapping[str, str] | None, locale: str) -> str | None:
    """The text in a language, or in the one that stands for it; None for neither."""
    if not texts:
        return None
    found = texts.get(locale)
    return texts.get(_FALLBACKS.get(locale, "")) if found is None else found


def _accepted(header: str) -> str | None:
    """The language that a browser prefers, of those that there are."""
    ranges = []
    for each in header[:_MAX_HEADER].split(","):
        found = _RANGE.fullmatch(each)
        if found is not None and (weight := float(found[2] or 1)) > 0:
            ranges.append((weight, found[1].lower()))
    for _, name in sorted(ranges, key=lambda each: -each[0]):
        locale = _BY_FOLDED.get(name) or _BY_LANGUAGE.get(name.partition("-")[0])
        if locale is not None:
            return locale
    return None
