"""Web Push over HTTP: rows of this server's own."""

from typing import Annotated

from msgspec import Meta, Struct

from moothall.api.access import PERSON
from moothall.api.context import Context
from moothall.api.endpoint import delete, get, post
from moothall.objects.ids import Snowflake
from moothall.objects.push import PushState, PushSubscription
from moothall.resources.push import operations, queries
from moothall.resources.push.queries import SubscriptionRow
from moothall.resources.push.sender import PushSender


class PushKeys(Struct, frozen=True, kw_only=True):
    """The keys of a browser's subscription, in base64url."""

    p256dh: Annotated[str, Meta(max_length=128)]
    auth: Annotated[str, Meta(max_length=64)]


class CreatePushSubscription(Struct, frozen=True, kw_only=True):
    """A subscription as browsers write it to JSON."""

    endpoint: Annotated[str, Meta(max_length=2048)]
    keys: PushKeys


@get("/users/@me/push-subscriptions", permission=PERSON)
async def list_push_subscriptions(ctx: Context) -> PushState:
    """List the caller's subscriptions to Web Push, with the server's public key."""
    key = ctx.services.resources[PushSender].key
    rows = await queries.select_own(ctx.tx, ctx.actor.user_id)
    return PushState(
        public_key=None if key is None else key.public_key, subscriptions=[_object(ctx, row) for row in rows]
    )


@post("/users/@me/push-subscriptions", permission=PERSON)
async def create_push_subscription(ctx: Context, body: CreatePushSubscription) -> PushSubscription:
    """Subscribe a browser to notifications of direct messages and mentions. At most 10; the oldest makes room."""
    subscriber = operations.Subscriber(body.endpoint, body.keys.p256dh, body.keys.auth)
    return _object(ctx, await operations.subscribe(ctx, subscriber))


@delete("/users/@me/push-subscriptions/{subscription_id}", permission=PERSON)
async def delete_push_subscription(ctx: Context, subscription_id: Snowflake) -> None:
    """End a subscription of the caller."""
    await operations.unsubscribe(ctx, subscription_id)


def _object(ctx: Context, row: SubscriptionRow) -> PushSubscription:
    current = row.token_hash == ctx.actor.token_hash
    return PushSubscription(id=row.id, host=operations.host_of(row.endpoint), current=current)
