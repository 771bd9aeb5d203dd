"""Where the gateway is, over HTTP (events: gateway)."""

from msgspec import Struct
from sqlalchemy import bindparam, func, select

from moothall.gateway.node import GatewayNode
from moothall.kernel.access import PUBLIC, SIGNED_IN
from moothall.kernel.context import Context
from moothall.kernel.endpoint import get
from moothall.storage.database import Query
from moothall.storage.schema import members

_GUILDS_A_SHARD = 1_000
"""What one shard is advised to carry; the gateway insists on sharding only above `guilds_per_shard`."""

_count_guilds = Query(select(func.count()).select_from(members).where(members.c.user_id == bindparam("user_id")))


class GatewayUrl(Struct, frozen=True):
    """Where to connect."""

    url: str


class SessionStartLimit(Struct, frozen=True):
    """How many sessions may still be started; `reset_after` in milliseconds."""

    total: int
    remaining: int
    reset_after: int
    max_concurrency: int


class GatewayBotInfo(Struct, frozen=True):
    """Where a bot connects, and with how many shards."""

    url: str
    shards: int
    session_start_limit: SessionStartLimit


@get("/gateway", permission=PUBLIC)
async def get_gateway(ctx: Context) -> GatewayUrl:
    """The URL of the gateway."""
    return GatewayUrl(_url(ctx))


@get("/gateway/bot", permission=SIGNED_IN)
async def get_bot_gateway(ctx: Context) -> GatewayBotInfo:
    """The URL of the gateway with the caller's advised shards and what is left of its session starts."""
    node = _node(ctx)
    guilds = await ctx.tx.scalar(_count_guilds, user_id=ctx.actor.user_id)
    return GatewayBotInfo(
        url=_url(ctx),
        shards=max(1, -(-guilds // _GUILDS_A_SHARD)),
        session_start_limit=SessionStartLimit(**node.limits.session_start_limit(ctx.actor.user_id)),
    )


def _url(ctx: Context) -> str:
    return _node(ctx).settings.url_for(ctx.header("host"), ctx.header("x-forwarded-proto"))


def _node(ctx: Context) -> GatewayNode:
    node = ctx.services.extra[GatewayNode]
    if not isinstance(node, GatewayNode):
        raise TypeError("the gateway node is not there")
    return node
