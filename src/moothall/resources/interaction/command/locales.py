"""Choose the locale of commands and the text in it (interactions: application commands, localization)."""

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


async def caller_locale(ctx: Context) -> str:
    """The caller's locale: of the header X-Discord-Locale, else of Accept-Language, else of their settings."""
    requested = ctx.header("x-discord-locale")
    if requested is not None and requested in LOCALES:
        return requested
    accepted = _accepted_locale(ctx.header("accept-language") or "")
    if accepted is not None:
        return accepted
    user = await select_user(ctx.tx, ctx.actor.user_id)
    return DEFAULT if user is None else user.locale


def localized_text(texts: Mapping[str, str] | None, locale: str) -> str | None:
    """The text in a locale, or in its fallback (en-US and en-GB, es-ES for es-419); None if there is neither."""
    if not texts:
        return None
    text = texts.get(locale)
    return texts.get(_FALLBACKS.get(locale, "")) if text is None else text


def _accepted_locale(header: str) -> str | None:
    """The locale that Accept-Language prefers, of the known ones."""
    ranges = []
    for each in header[:_MAX_HEADER].split(","):
        match = _RANGE.fullmatch(each)
        if match is not None and (weight := float(match[2] or 1)) > 0:
            ranges.append((weight, match[1].lower()))
    for _, name in sorted(ranges, key=lambda each: -each[0]):
        locale = _BY_FOLDED.get(name) or _BY_LANGUAGE.get(name.partition("-")[0])
        if locale is not None:
            return locale
    return None
