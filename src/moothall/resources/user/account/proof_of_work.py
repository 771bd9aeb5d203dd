"""Proof of work of those who register, as ALTCHA has it: a challenge that takes a browser about a second to solve.

A challenge is signed and not stored. Its solution is good once, as its hash is stored until the challenge has expired.
"""

import base64
import binascii
from datetime import UTC, datetime
from typing import Final

import msgspec
from msgspec import Struct

from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import UserId
from moothall.resources.user.factor.operations import TICKET_MINUTES, spend_ticket

SOLUTION_MAX: Final = 2_048
_SECONDS: Final = TICKET_MINUTES * 60 - 60
"""How long a challenge is good: less long than its use is remembered."""
_KEY: Final = "altcha"
_ALGORITHM: Final = "SHA-256"
_MISSING: Final = "Solve a challenge of this server to register, or use its client."
_BAD: Final = "This solution was used before, or is not valid any more."


class Challenge(Struct, frozen=True):
    """A challenge of ALTCHA: find the number up to `maxNumber` whose hash, after the salt, is `challenge`."""

    algorithm: str
    """Always `SHA-256`."""
    challenge: str
    """The hash to find, in hexadecimal."""
    maxNumber: int  # noqa: N815 ALTCHA's name
    """The largest number that may solve it."""
    salt: str
    """What stands before the number; it says when the challenge expires."""
    signature: str
    """The server's signature of the challenge."""


class Solution(Struct, frozen=True):
    """A challenge of before with the number that solves it."""

    algorithm: str
    challenge: str
    number: int
    salt: str
    signature: str


def new_challenge(ctx: Context) -> Challenge:
    """Make a challenge. Raises Refusal 403/40006 where registration needs none."""
    from altcha import v1  # noqa: PLC0415 few servers need it

    hardest = ctx.services.limits.registration_proof_of_work
    if not hardest:
        raise Refusal(errors.FEATURE_DISABLED)
    expires = datetime.fromtimestamp(ctx.now / 1000 + _SECONDS, UTC)
    options = v1.ChallengeOptions(max_number=hardest, hmac_key=_keys(ctx)[0], expires=expires)
    made = v1.create_challenge(options)
    return Challenge(made.algorithm, made.challenge, made.max_number, made.salt, made.signature)


def check_solution(ctx: Context, text: str | None) -> Solution | None:
    """Read a solution without using it; None where registration needs none.

    Raises Refusal 50035 at `captcha_key` for none and for one that is wrong or late.
    """
    if not ctx.services.limits.registration_proof_of_work:
        return None
    if not text:
        raise _missing()
    try:
        solution = msgspec.json.decode(base64.b64decode(text, validate=True), type=Solution)
    except (binascii.Error, msgspec.MsgspecError, ValueError):
        raise _bad() from None
    if not _is_good(ctx, solution):
        raise _bad()
    return solution


async def use_solution(ctx: Context, solution: Solution | None, user_id: UserId) -> None:
    """Use a solution for a new account. Raises Refusal 50035 at `captcha_key` if it was used before."""
    if solution is not None and not await spend_ticket(ctx, f"altcha {solution.challenge}", user_id):
        raise _bad()


def _is_good(ctx: Context, solution: Solution) -> bool:
    from altcha import v1  # noqa: PLC0415 as above

    if solution.algorithm != _ALGORITHM:
        return False
    payload = v1.Payload("SHA-256", solution.challenge, solution.number, solution.salt, solution.signature)
    _, expires, _ = payload.parse_salt()
    # Our own clock: that of the library cannot be set.
    if expires is None or expires * 1000 <= ctx.now:
        return False
    return any(v1.verify_solution(payload, key, check_expires=False)[0] for key in _keys(ctx))


def _keys(ctx: Context) -> tuple[bytes, ...]:
    return ctx.services.box.digests(_KEY, about=b"proof of work")


def _missing() -> Refusal:
    form_errors = FormErrors()
    form_errors.add("captcha_key", FormCode.INVALID_TOKEN, _MISSING)
    return _with_service(form_errors.refusal(), "captcha-required")


def _bad() -> Refusal:
    form_errors = FormErrors()
    form_errors.add("captcha_key", FormCode.INVALID_TOKEN, _BAD)
    return _with_service(form_errors.refusal(), "invalid-response")


def _with_service(refusal: Refusal, word: str) -> Refusal:
    """The refusal in the shape of the usual clients, with `captcha_key` and the service to ask."""
    refusal.extra |= {"captcha_key": [word], "captcha_service": "altcha"}
    return refusal
