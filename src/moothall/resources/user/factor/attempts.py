"""Attempts to prove a second factor, throttled by network."""

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from moothall.api import unit_of_work
from moothall.api.context import Context
from moothall.api.hooks import Fires
from moothall.api.pipeline import too_many_requests
from moothall.objects import errors
from moothall.objects.errors import ErrorKind, Refusal
from moothall.resources.user.password.throttle import AttemptThrottle, Limit, TooManyAttempts

T = TypeVar("T")

_FAILURES_OF_NETWORK_MAX: Final = 50


class CodeThrottle(AttemptThrottle):
    """Counts wrong codes and tickets by network. Those of an account are counted in the database."""


async def attempt(
    ctx: Context,
    work: Callable[[Context], Awaitable[T | None]],
    *,
    fires: Fires,
    refusal: ErrorKind = errors.INVALID_MFA_CODE,
) -> T:
    """Run `work` in a transaction, which is committed if it returns None: the code was wrong, and that is counted.

    Raises Refusal: `refusal` (400/60008) for a wrong code, 429 after too many, and what `work` raises.
    """
    throttle = ctx.services.resources[CodeThrottle]
    try:
        async with throttle.attempt(Limit(f"network {ctx.ip}", _FAILURES_OF_NETWORK_MAX)) as running:
            result = await unit_of_work.run(ctx.services, ctx.actor, work, fires=fires)
            if result is not None:
                running.discard()
    except TooManyAttempts as problem:
        raise too_many_requests(problem.seconds, "user", []) from None
    if result is None:
        raise Refusal(refusal)
    return result
