"""Get Gateway and Get Gateway Bot (events: gateway)."""

from msgspec import Struct

from moothall.api.access import PUBLIC, SIGNED_IN
from moothall.api.context import Context
from moothall.api.endpoint import get
from moothall.gateway.node import GatewayNode
from moothall.resources.member.queries import count_guilds

_RECOMMENDED_GUILDS_PER_SHARD = 1_000
"""For `shards` of Get Gateway Bot; sharding is required only above `guilds_per_shard` of the settings."""


class GatewayUrl(Struct, frozen=True):
    """The URL that clients connect to."""

    url: str


class SessionStartLimit(Struct, frozen=True):
    """How many sessions a bot may still start; `reset_after` in milliseconds."""

    total: int
    remaining: int
    reset_after: int
    max_concurrency: int


class GatewayBotInfo(Struct, frozen=True):
    """The URL that a bot connects to, and the recommended number of shards."""

    url: str
    shards: int
    session_start_limit: SessionStartLimit


@get("/gateway", permission=PUBLIC)
async def get_gateway(ctx: Context) -> GatewayUrl:
    """The URL of the gateway."""
    return GatewayUrl(_url(ctx))


@get("/gateway/bot", permission=SIGNED_IN)
async def get_bot_gateway(ctx: Context) -> GatewayBotInfo:
    """The URL of the gateway with the caller's recommended shards and remaining session starts."""
    node = ctx.services.resources[GatewayNode]
    guilds = await count_guilds(ctx.tx, ctx.actor.user_id)
    return GatewayBotInfo(
        url=_url(ctx),
        shards=max(1, -(-guilds // _RECOMMENDED_GUILDS_PER_SHARD)),
        session_start_limit=SessionStartLimit(**node.limits.session_start_limit(ctx.actor.user_id)),
    )


def _url(ctx: Context) -> str:
    settings = ctx.services.resources[GatewayNode].settings
    return settings.url_for(ctx.header("host"), ctx.header("x-forwarded-proto"))
