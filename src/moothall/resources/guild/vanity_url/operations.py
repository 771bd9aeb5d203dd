"""Choosing a guild's own invite code."""

import re
from typing import Final

from moothall.kernel.context import Context
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


async def set_vanity(ctx: Context, wanted: str | None, *, by_operator: bool = False) -> VanityUrl:
    """Make a code the guild's own, in small letters, or take it away with None; the code and its uses then.

    A new code has led nobody in. Raises Refusal: 400/50101 without the feature (giving a code up takes
    none, and operators ask nobody), 400/50035 for a wrong length, 400/50020 for a code that cannot be one or belongs to
    others.
    """
    row = ctx.guild.row
    code = (wanted or "").strip().lower() or None
    if code == row.vanity_url_code:
        return await queries.select_vanity(ctx.tx, row.id)
    if code is not None:
        if not by_operator and Feature.VANITY_URL not in row.features:
            raise Refusal(errors.MORE_BOOSTS_REQUIRED)
        await _check_code(ctx, code)
    # The uses are counted without renewing the guild's state: what it holds of them may be old.
    await queries.reset_uses(ctx.tx, row.id)
    try:
        await change_guild(ctx, vanity_url_code=code)
    except ConstraintFailed:
        # Another guild took it at the same moment.
        raise Refusal(errors.INVITE_CODE_TAKEN) from None
    return VanityUrl(code=code, uses=0)


async def _check_code(ctx: Context, code: str) -> None:
    if not limits.VANITY_CODE_MIN <= len(code) <= limits.VANITY_CODE_MAX:
        form_errors = FormErrors()
        form_errors.add("code", *FieldError.length(limits.VANITY_CODE_MIN, limits.VANITY_CODE_MAX))
        raise form_errors.refusal()
    if not _CODE.fullmatch(code) or await queries.is_taken(ctx.tx, code):
        raise Refusal(errors.INVITE_CODE_TAKEN)
