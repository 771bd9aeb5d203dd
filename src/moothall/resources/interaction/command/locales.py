"""Choose the locale of commands and the text in it (interactions: application commands, localization)."""

from collections.abc import Mapping
from typing import Final

from moothall.api.context import Context
from moothall.objects.locales import DEFAULT, LOCALES, preferred_locale
from moothall.resources.user.queries import select_user

_FALLBACKS: Final = {"en-US": "en-GB", "en-GB": "en-US", "es-419": "es-ES"}


async def caller_locale(ctx: Context) -> str:
    """The caller's locale: of the header X-Discord-Locale, else of Accept-Language, else of their settings."""
    requested = ctx.header("x-discord-locale")
    if requested is not None and requested in LOCALES:
        return requested
    accepted = preferred_locale(ctx.header("accept-language"))
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
