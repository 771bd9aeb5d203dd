"""Setting and removing a guild's vanity code."""

import re
from typing import Final

from moothall.api.context import Context
from moothall.objects import errors, limits
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.features import Feature
from moothall.objects.form_codes import FieldError
from moothall.objects.guild import VanityUrl
from moothall.resources.guild.operations import change_guild
from moothall.resources.guild.vanity_url import queries
from moothall.storage.database import ConstraintFailed

_CODE: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
"""Letters, digits and single dashes between them."""


async def modify_vanity_url(ctx: Context, requested: str | None, *, by_operator: bool = False) -> VanityUrl:
    """Set the guild's vanity code, in lower case, or remove it with None; returns the code and its uses.

    A new code starts with 0 uses. Raises Refusal: 400/50101 without the feature VANITY_URL (which neither removing a
    code nor an operator requires), 400/50035 for a wrong length, 400/50020 for an invalid code or one that is taken.
    """
    row = ctx.guild.row
    code = (requested or "").strip().lower() or None
    if code == row.vanity_url_code:
        return await queries.select_vanity_url(ctx.tx, row.id)
    if code is not None:
        if not by_operator and Feature.VANITY_URL not in row.features:
            raise Refusal(errors.MORE_BOOSTS_REQUIRED)
        await _check_code(ctx, code)
    # Counting a use does not invalidate the guild's cached state, whose number may be outdated.
    await queries.reset_uses(ctx.tx, row.id)
    try:
        await change_guild(ctx, vanity_url_code=code)
    except ConstraintFailed:
        # Another guild took the code concurrently.
        raise Refusal(errors.INVITE_CODE_TAKEN) from None
    return VanityUrl(code=code, uses=0)


async def _check_code(ctx: Context, code: str) -> None:
    if not limits.VANITY_CODE_MIN <= len(code) <= limits.VANITY_CODE_MAX:
        form_errors = FormErrors()
        form_errors.add("code", *FieldError.length(limits.VANITY_CODE_MIN, limits.VANITY_CODE_MAX))
        raise form_errors.refusal()
    if not _CODE.fullmatch(code) or await queries.is_code_taken(ctx.tx, code):
        raise Refusal(errors.INVITE_CODE_TAKEN)
