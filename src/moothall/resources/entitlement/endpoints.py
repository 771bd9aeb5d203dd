"""Entitlements and subscriptions over HTTP (resources: entitlement, subscription)."""

from typing import Annotated

from msgspec import Meta

from moothall.api.access import SIGNED_IN
from moothall.api.authenticate import TokenKind
from moothall.api.context import Context
from moothall.api.endpoint import delete, get, post
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FieldError
from moothall.objects.ids import ApplicationId, EntitlementId, GuildId, SkuId, SubscriptionId, UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.monetization import Entitlement, Subscription
from moothall.objects.scopes import ENTITLEMENTS
from moothall.resources.entitlement import operations, queries
from moothall.resources.entitlement.access import MANAGES_ENTITLEMENTS, OWN_ENTITLEMENTS
from moothall.resources.entitlement.events import (
    EntitlementCreate,
    EntitlementDelete,
    EntitlementUpdate,
    SubscriptionCreate,
    SubscriptionDelete,
    SubscriptionUpdate,
)
from moothall.resources.entitlement.objects import entitlement_object, subscription_object
from moothall.resources.entitlement.requests import CreateTestEntitlement
from moothall.resources.sku.operations import find_sku
from moothall.resources.sku.queries import select_sku

_SkuIds = Annotated[list[SkuId], Meta(max_length=limits.ENTITLEMENTS_LISTED)]
_Limit = Annotated[int, Meta(ge=1, le=limits.ENTITLEMENTS_LISTED)]
_OWN_SCOPES = f"identify|{ENTITLEMENTS}"


@get("/applications/{application_id}/entitlements", permission=MANAGES_ENTITLEMENTS, scope=ENTITLEMENTS)
async def list_entitlements(
    ctx: Context,
    application_id: ApplicationId,
    *,
    user_id: UserId | None = None,
    guild_id: GuildId | None = None,
    sku_ids: _SkuIds | None = None,
    before: EntitlementId | None = None,
    after: EntitlementId | None = None,
    limit: _Limit = limits.ENTITLEMENTS_LISTED,
    exclude_ended: bool = False,
    exclude_deleted: bool = True,
    only_active: bool = False,
) -> list[Entitlement]:
    """List the entitlements of an application, ascending by id. `only_active` excludes ended and consumed ones."""
    filters: dict[str, object] = {
        "owner_id": user_id,
        "guild_id": guild_id,
        "sku_ids": sku_ids or None,
        "before": before,
        "after": after,
        "not_ended_at": ctx.now if exclude_ended or only_active else None,
        "deleted": False if exclude_deleted or only_active else None,
        "consumed": False if only_active else None,
    }
    rows = await queries.select_entitlements(
        ctx.tx,
        application_id=application_id,
        maximum=limit,
        newest_first=before is not None and after is None,
        **{name: value for name, value in filters.items() if value is not None},
    )
    return [entitlement_object(row) for row in rows]


@post(
    "/applications/{application_id}/entitlements",
    permission=MANAGES_ENTITLEMENTS,
    fires=(EntitlementCreate, SubscriptionCreate),
)
async def create_test_entitlement(
    ctx: Context, application_id: ApplicationId, body: CreateTestEntitlement
) -> Entitlement:
    """Grant an SKU of the application to a guild or a user, without payment."""
    return await operations.create_test_entitlement(ctx, body)


@get(
    "/applications/{application_id}/entitlements/{entitlement_id}", permission=MANAGES_ENTITLEMENTS, scope=ENTITLEMENTS
)
async def get_entitlement(ctx: Context, application_id: ApplicationId, entitlement_id: EntitlementId) -> Entitlement:
    """Get an entitlement of an application."""
    return entitlement_object(await operations.find_entitlement(ctx, entitlement_id))


@delete(
    "/applications/{application_id}/entitlements/{entitlement_id}",
    permission=MANAGES_ENTITLEMENTS,
    scope=ENTITLEMENTS,
    fires=(EntitlementDelete, SubscriptionUpdate, SubscriptionDelete),
)
async def delete_test_entitlement(ctx: Context, application_id: ApplicationId, entitlement_id: EntitlementId) -> None:
    """Delete a test entitlement."""
    await operations.delete_test_entitlement(ctx, entitlement_id)


@post(
    "/applications/{application_id}/entitlements/{entitlement_id}/consume",
    permission=MANAGES_ENTITLEMENTS,
    scope=ENTITLEMENTS,
    fires=(EntitlementUpdate,),
)
async def consume_entitlement(ctx: Context, application_id: ApplicationId, entitlement_id: EntitlementId) -> None:
    """Mark an entitlement to a consumable SKU as consumed."""
    await operations.consume_entitlement(ctx, entitlement_id)


@get("/users/@me/applications/{application_id}/entitlements", permission=OWN_ENTITLEMENTS, scope=_OWN_SCOPES)
async def get_current_user_application_entitlements(
    ctx: Context, application_id: ApplicationId, *, sku_ids: _SkuIds | None = None, exclude_consumed: bool = True
) -> list[Entitlement]:
    """List the caller's entitlements of an application that are neither deleted nor ended."""
    filters: JsonObject = {"sku_ids": sku_ids} if sku_ids else {}
    if exclude_consumed:
        filters["consumed"] = False
    rows = await queries.select_entitlements(
        ctx.tx,
        application_id=application_id,
        owner_id=ctx.actor.user_id,
        deleted=False,
        not_ended_at=ctx.now,
        maximum=limits.ENTITLEMENTS_LISTED,
        **filters,
    )
    return [entitlement_object(row) for row in rows]


@get("/skus/{sku_id}/subscriptions", permission=SIGNED_IN, scope=_OWN_SCOPES)
async def list_sku_subscriptions(
    ctx: Context,
    sku_id: SkuId,
    *,
    before: SubscriptionId | None = None,
    after: SubscriptionId | None = None,
    limit: _Limit = limits.SUBSCRIPTIONS_LISTED_DEFAULT,
    user_id: UserId | None = None,
) -> list[Subscription]:
    """List the subscriptions of a user to an SKU, ascending by id."""
    subscriber_id = await _find_subscriber(ctx, sku_id, user_id)
    if subscriber_id is None:
        refuse_field("user_id", *FieldError.required())
    filters = {"before_subscription": before, "after_subscription": after}
    rows = await queries.select_entitlements(
        ctx.tx,
        sku_id=sku_id,
        subscriber_id=subscriber_id,
        maximum=limit,
        newest_first=before is not None and after is None,
        **{name: value for name, value in filters.items() if value is not None},
    )
    return [each for row in rows if (each := subscription_object(row, ctx.now)) is not None]


@get("/skus/{sku_id}/subscriptions/{subscription_id}", permission=SIGNED_IN, scope=_OWN_SCOPES)
async def get_sku_subscription(
    ctx: Context, sku_id: SkuId, subscription_id: SubscriptionId, *, user_id: UserId | None = None
) -> Subscription:
    """Get a subscription to an SKU."""
    subscriber_id = await _find_subscriber(ctx, sku_id, user_id)
    filters: JsonObject = {} if subscriber_id is None else {"subscriber_id": subscriber_id}
    rows = await queries.select_entitlements(
        ctx.tx, sku_id=sku_id, subscription_id=subscription_id, maximum=1, **filters
    )
    subscription = subscription_object(rows[0], ctx.now) if rows else None
    if subscription is None:
        raise Refusal(errors.NOT_FOUND)
    return subscription


async def _find_subscriber(ctx: Context, sku_id: SkuId, user_id: UserId | None) -> UserId | None:
    """The user whose subscriptions the caller may read: with an access token of the application, their own."""
    if ctx.actor.kind is not TokenKind.BEARER:
        await find_sku(ctx, sku_id)
        return user_id
    row = await select_sku(ctx.tx, sku_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_SKU)
    if row.application_id != ctx.actor.application_id or user_id not in {None, ctx.actor.user_id}:
        raise Refusal(errors.NOT_APPLICATION_OWNER)
    return ctx.actor.user_id
