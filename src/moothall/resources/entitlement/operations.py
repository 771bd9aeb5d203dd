"""Entitlement operations: create, consume and delete test entitlements."""

from typing import Final

from msgspec import structs

from moothall.api.context import Context
from moothall.api.hooks import Hook
from moothall.api.jobs import enqueue
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import (
    ApplicationId,
    EntitlementId,
    GuildId,
    Snowflake,
    SubscriptionId,
    UserId,
)
from moothall.objects.monetization import Entitlement, OwnerType, SkuFlags, SkuType
from moothall.resources.application.access import requested_application
from moothall.resources.application.queries import ApplicationRow
from moothall.resources.entitlement import queries
from moothall.resources.entitlement.events import (
    EntitlementCreate,
    EntitlementDelete,
    EntitlementUpdate,
    SubscriptionCreate,
    SubscriptionDelete,
    SubscriptionUpdate,
)
from moothall.resources.entitlement.jobs import DeleteEntitlements
from moothall.resources.entitlement.objects import entitlement_object, subscription_object
from moothall.resources.entitlement.queries import EntitlementRow
from moothall.resources.entitlement.requests import CreateTestEntitlement
from moothall.resources.sku.queries import SkuRow, select_sku
from moothall.resources.user.queries import get_user

ENTITLEMENT_CHANGED: Final = Hook[[Context, ApplicationRow, str, Entitlement], None]("entitlement changed")
"""Called with the name of the event in the transaction that creates, consumes or deletes an entitlement."""


async def create_test_entitlement(ctx: Context, body: CreateTestEntitlement) -> Entitlement:
    """Grant an SKU of the requested application to a guild or a user.

    Raises Refusal: 404/10027 for an SKU of another application, 400/50057 for a group of subscriptions, 404/10004 and
    404/10013 for an unknown owner, 400/40074 for an owner who has the SKU already, unless it is consumable, 400/50035
    for an SKU that is offered to the other kind of owner.
    """
    application = requested_application(ctx)
    sku = await select_sku(ctx.tx, body.sku_id)
    if sku is None or sku.application_id != application.id:
        raise Refusal(errors.UNKNOWN_SKU)
    _check_owner_type(sku, body.owner_type)
    await _check_owner_exists(ctx, body)
    if sku.type != SkuType.CONSUMABLE:
        await _check_not_granted(ctx, application.id, body)
    is_guild = body.owner_type == OwnerType.GUILD
    row = EntitlementRow(
        application_id=application.id,
        id=EntitlementId(ctx.ids.next()),
        sku_id=sku.id,
        owner_id=body.owner_id,
        guild_id=GuildId(body.owner_id) if is_guild else None,
        user_id=application.owner_id if is_guild else UserId(body.owner_id),
        subscription_id=SubscriptionId(ctx.ids.next()) if sku.type == SkuType.SUBSCRIPTION else None,
        created_at=ctx.now,
        starts_at=None,
        ends_at=None,
        consumed=False,
        deleted=False,
    )
    await queries.insert_entitlement(ctx.tx, row)
    entitlement = entitlement_object(row)
    ctx.emit(EntitlementCreate(user_ids=_recipients(application, row), entitlement=entitlement))
    if (subscription := subscription_object(row, ctx.now)) is not None:
        ctx.emit(SubscriptionCreate(user_ids=_bot_ids(application), subscription=subscription))
    await ENTITLEMENT_CHANGED(ctx, application, EntitlementCreate.name, entitlement)
    return entitlement


def _check_owner_type(sku: SkuRow, owner_type: OwnerType) -> None:
    if sku.type == SkuType.SUBSCRIPTION_GROUP:
        raise Refusal(errors.INVALID_SKU)
    if bool(sku.flags & SkuFlags.GUILD_SUBSCRIPTION) != (owner_type == OwnerType.GUILD):
        refuse_field("owner_type", FormCode.BASE_TYPE_CHOICES, "The SKU is not offered to this kind of owner.")


async def _check_owner_exists(ctx: Context, body: CreateTestEntitlement) -> None:
    if body.owner_type == OwnerType.GUILD:
        if await ctx.services.states.state(ctx.tx, GuildId(body.owner_id), writes=ctx.writes) is None:
            raise Refusal(errors.UNKNOWN_GUILD)
    elif await get_user(ctx.tx, UserId(body.owner_id)) is None:
        raise Refusal(errors.UNKNOWN_USER)


async def _check_not_granted(ctx: Context, application_id: ApplicationId, body: CreateTestEntitlement) -> None:
    granted = await queries.select_entitlements(
        ctx.tx,
        application_id=application_id,
        owner_id=body.owner_id,
        sku_id=body.sku_id,
        deleted=False,
        not_ended_at=ctx.now,
        maximum=1,
    )
    if granted:
        raise Refusal(errors.ENTITLEMENT_EXISTS)


async def find_entitlement(ctx: Context, entitlement_id: EntitlementId) -> EntitlementRow:
    """An entitlement of the requested application, deleted or not. Raises Refusal: 404/10029."""
    rows = await queries.select_entitlements(
        ctx.tx,
        application_id=requested_application(ctx).id,
        after=Snowflake(entitlement_id - 1),
        before=Snowflake(entitlement_id + 1),
        maximum=1,
    )
    if not rows:
        raise Refusal(errors.UNKNOWN_ENTITLEMENT)
    return rows[0]


async def consume_entitlement(ctx: Context, entitlement_id: EntitlementId) -> None:
    """Mark an entitlement to a consumable SKU as consumed. A second call changes nothing.

    Raises Refusal: 404/10029, also for a deleted entitlement, 400/40018 for an SKU of another type.
    """
    row = await _find_present(ctx, entitlement_id)
    sku = await select_sku(ctx.tx, row.sku_id)
    if sku is None or sku.type != SkuType.CONSUMABLE:
        raise Refusal(errors.NOT_CONSUMABLE)
    if row.consumed:
        return
    await queries.update_entitlement(ctx.tx, row, consumed=True)
    application, entitlement = requested_application(ctx), entitlement_object(structs.replace(row, consumed=True))
    ctx.emit(EntitlementUpdate(user_ids=_recipients(application, row), entitlement=entitlement))
    await ENTITLEMENT_CHANGED(ctx, application, EntitlementUpdate.name, entitlement)


async def delete_test_entitlement(ctx: Context, entitlement_id: EntitlementId) -> None:
    """Delete a test entitlement, with the subscription behind it. Raises Refusal: 404/10029, also for a deleted one."""
    row = await _find_present(ctx, entitlement_id)
    after = structs.replace(row, deleted=True, ends_at=ctx.now)
    await queries.update_entitlement(ctx.tx, row, deleted=True, ends_at=ctx.now)
    application, entitlement = requested_application(ctx), entitlement_object(after)
    ctx.emit(EntitlementDelete(user_ids=_recipients(application, row), entitlement=entitlement))
    if (subscription := subscription_object(after, ctx.now)) is not None:
        ctx.emit(SubscriptionUpdate(user_ids=_bot_ids(application), subscription=subscription))
        ctx.emit(SubscriptionDelete(user_ids=_bot_ids(application), subscription=subscription))
    await ENTITLEMENT_CHANGED(ctx, application, EntitlementDelete.name, entitlement)


async def delete_entitlements_of_application(ctx: Context, application_id: ApplicationId) -> None:
    """Enqueue the deletion of the entitlements of an application that is being deleted."""
    await enqueue(ctx, DeleteEntitlements(application_id=application_id))


async def active_entitlements(
    ctx: Context, application_id: ApplicationId, user_id: UserId, guild_id: GuildId | None
) -> list[Entitlement]:
    """The entitlements that an interaction of a user in a guild carries: of both, without consumed and ended ones."""
    owner_ids = [Snowflake(user_id), *([] if guild_id is None else [Snowflake(guild_id)])]
    rows = await queries.select_active_entitlements(
        ctx.tx, application_id, owner_ids, ctx.now, limits.ENTITLEMENTS_LISTED
    )
    return [entitlement_object(row) for row in rows]


async def _find_present(ctx: Context, entitlement_id: EntitlementId) -> EntitlementRow:
    row = await find_entitlement(ctx, entitlement_id)
    if row.deleted:
        raise Refusal(errors.UNKNOWN_ENTITLEMENT)
    return row


def _bot_ids(application: ApplicationRow) -> tuple[UserId, ...]:
    return () if application.bot_user_id is None else (application.bot_user_id,)


def _recipients(application: ApplicationRow, row: EntitlementRow) -> tuple[UserId, ...]:
    """Who receives events of an entitlement: the application's bot, and the user whose own it is."""
    return (*_bot_ids(application), *(() if row.guild_id is not None else (row.user_id,)))
