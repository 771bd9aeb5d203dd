"""How many users an account contacts anew: direct messages that it opens, strangers whom it writes to or befriends.

People and bots are counted alike, in windows of ten minutes. Nothing is counted where rate limits are switched off.
"""

from typing import Final

from moothall.api.context import Context
from moothall.api.ratelimit import Rate
from moothall.objects.errors import ErrorKind, Refusal

_SECONDS: Final = 600.0


def count_opened(ctx: Context, refusal: ErrorKind) -> None:
    """Count a direct message that the caller opens anew. Raises Refusal above the operator's limit."""
    _spend(ctx, "direct messages opened", ctx.services.limits.opened_direct_messages, refusal)


def count_stranger(ctx: Context, refusal: ErrorKind) -> None:
    """Count a stranger whom the caller contacts. Raises Refusal above the operator's limit."""
    _spend(ctx, "strangers contacted", ctx.services.limits.new_contacts, refusal)


def _spend(ctx: Context, name: str, requests: int, refusal: ErrorKind) -> None:
    limiter = ctx.services.limiter
    if limiter is None:
        return
    wait = limiter.spend(name, Rate(requests, _SECONDS), ctx.actor.user_id, loopback=ctx.loopback)
    if wait:
        wait = round(wait, 3)
        raise Refusal(
            refusal,
            headers={"retry-after": str(int(wait) + 1), "via": "1.1 moothall"},
            extra={"retry_after": wait, "global": False},
        )
