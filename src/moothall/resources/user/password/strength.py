"""Strength of new passwords: refuses common and guessable ones by the score of zxcvbn."""

import re
import threading
from collections.abc import Iterable
from functools import partial
from typing import Final
from urllib.parse import urlsplit

from moothall.api.context import Context
from moothall.objects import errors, limits
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FormCode
from moothall.runtime.budgets import Overloaded

_PLATFORM: Final = "moothall"
_WORD: Final = re.compile(r"[^\W_]+")
_WORD_MIN: Final = 4
_STEP: Final = 8
_TOO_WEAK: Final = "Password is too weak or common to use."
_OWN_WORDS: Final = "Your own names and those of this platform do not count."

_zxcvbn_lock = threading.Lock()
"""zxcvbn stores the words of a call in a module variable, so calls must not overlap."""


async def check_strength(
    ctx: Context, form_errors: FormErrors, field: str, password: str, *, names: Iterable[str | None]
) -> None:
    """Add a form error for a password that is common or easy to guess, also from the `names` of the account.

    Raises Refusal 503 while too many passwords wait to be hashed.
    """
    min_score = ctx.services.limits.password_min_score
    words = [name for name in (*names, urlsplit(ctx.services.limits.public_url).hostname) if name]
    try:
        # Takes milliseconds, or hundreds of them for the worst input, so it runs on the hashing threads.
        problem = await ctx.services.passwords.run(ctx.payer, partial(weakness, password, words, min_score))
    except Overloaded:
        raise Refusal(errors.OVERLOADED) from None
    if problem is not None:
        form_errors.add(field, FormCode.PASSWORD_BAD_PASSWORD, problem)


def weakness(password: str, names: Iterable[str], min_score: int) -> str | None:
    """The error text, with advice, for a password that scores less than `min_score` (0 to 4); None for others.

    `names` are public texts of the account, such as its username and address: they and their words are ignored in the
    password. Takes milliseconds; run it off the event loop.
    """
    if min_score <= 0:
        return None
    password = password[: limits.PASSWORD_MAX]
    words = {word.casefold() for name in (*names, _PLATFORM) for word in (name, *_WORD.findall(name))}
    rest = password
    for word in sorted((word for word in words if len(word) >= _WORD_MIN), key=len, reverse=True):
        rest = re.sub(re.escape(word), "", rest, flags=re.IGNORECASE)
    advice = [_TOO_WEAK, *([_OWN_WORDS] if rest != password else [])]
    # A password is at least as strong as its beginning, and one that zxcvbn needs long for (many symbols that may
    # stand for letters) is strong enough long before its end.
    for length in range(2 * _STEP, max(len(rest), 2 * _STEP) + _STEP, _STEP) if rest else ():
        score, hints = _estimate(rest[:length], sorted(words))
        if score >= min_score:
            return None
        if length >= len(rest):
            advice += hints
    return " ".join(advice)


def _estimate(password: str, words: list[str]) -> tuple[int, list[str]]:
    # Its tables take 50 ms and 15 MB, so it is imported at the first registration.
    from zxcvbn import zxcvbn  # noqa: PLC0415

    with _zxcvbn_lock:
        result = zxcvbn(password, words)
    feedback = result["feedback"]
    hints = [text if text.endswith(".") else f"{text}." for text in (feedback["warning"], *feedback["suggestions"][:1])]
    return int(result["score"]), [hint for hint in hints if hint != "."]
