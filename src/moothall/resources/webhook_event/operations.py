"""Webhook event operations: store the events that applications have subscribed to."""

from collections.abc import Iterable, Sequence

from msgspec import UNSET

from moothall.api.context import Context
from moothall.objects.application import IntegrationType
from moothall.objects.ids import ApplicationId, GuildId, UserId
from moothall.objects.monetization import Entitlement
from moothall.objects.webhook_event import (
    ApplicationAuthorized,
    ApplicationDeauthorized,
    EventWebhooksStatus,
    WebhookEvent,
    WebhookEventPayload,
    WebhookEventType,
    WebhookType,
)
from moothall.objects.wire import encode
from moothall.resources.application.queries import ApplicationRow, select_applications
from moothall.resources.guild.objects import guild_object
from moothall.resources.user.queries import get_user
from moothall.resources.webhook_event import queries
from moothall.resources.webhook_event.queries import EventRow
from moothall.resources.webhook_event.sender import WebhookEventSender


def is_subscribed(application: ApplicationRow, kind: WebhookEventType) -> bool:
    """Whether an application receives events of a type."""
    return (
        not application.disabled
        and application.event_webhooks_status == EventWebhooksStatus.ENABLED
        and application.event_webhooks_url is not None
        and kind in application.event_webhooks_types
    )


async def store_events(
    ctx: Context, applications: Iterable[ApplicationRow], kind: WebhookEventType, data: object
) -> None:
    """Store an event for applications that are subscribed to it. It is sent once this transaction is durable."""
    rows = [
        EventRow(
            id=ctx.ids.next(),
            application_id=application.id,
            body=encode(
                WebhookEventPayload(
                    application_id=application.id,
                    type=WebhookType.EVENT,
                    event=WebhookEvent(type=kind, timestamp=ctx.now, data=data),
                )
            ).decode(),
            created_at=ctx.now,
            attempts=0,
            next_attempt_at=ctx.now,
            claim_id=None,
        )
        for application in applications
    ]
    if rows:
        await queries.insert_events(ctx.tx, rows)
        ctx.after_commit.append(ctx.services.resources[WebhookEventSender].wake)


async def announce_authorized(
    ctx: Context,
    application_id: ApplicationId,
    scopes: Sequence[str],
    integration_type: IntegrationType | None,
    guild_id: GuildId | None,
) -> None:
    """Store APPLICATION_AUTHORIZED: the actor has consented to scopes, and possibly installed the application."""
    kind = WebhookEventType.APPLICATION_AUTHORIZED
    application = (await select_applications(ctx.tx, [application_id])).get(application_id)
    if application is None or not is_subscribed(application, kind):
        return
    user = await get_user(ctx.tx, ctx.actor.user_id)
    guild = None if guild_id is None else await ctx.services.states.state(ctx.tx, guild_id, writes=ctx.writes)
    if user is None:
        return
    data = ApplicationAuthorized(
        integration_type=UNSET if integration_type is None else int(integration_type),
        user=user,
        scopes=list(scopes),
        guild=UNSET if guild is None else guild_object(guild),
    )
    await store_events(ctx, [application], kind, data)


async def announce_deauthorized(ctx: Context, user_id: UserId, application_ids: Sequence[ApplicationId]) -> None:
    """Store APPLICATION_DEAUTHORIZED: a user has revoked authorizations."""
    kind = WebhookEventType.APPLICATION_DEAUTHORIZED
    applications = await select_applications(ctx.tx, application_ids)
    subscribed = [row for row in applications.values() if is_subscribed(row, kind)]
    user = await get_user(ctx.tx, user_id) if subscribed else None
    if user is not None:
        await store_events(ctx, subscribed, kind, ApplicationDeauthorized(user=user))


async def announce_entitlement(ctx: Context, application: ApplicationRow, name: str, entitlement: Entitlement) -> None:
    """Store ENTITLEMENT_CREATE, ENTITLEMENT_UPDATE or ENTITLEMENT_DELETE."""
    if is_subscribed(application, WebhookEventType(name)):
        await store_events(ctx, [application], WebhookEventType(name), entitlement)


async def delete_events(ctx: Context, application_id: ApplicationId) -> None:
    """Delete the events of an application that is being deleted."""
    await queries.delete_events_of_application(ctx.tx, application_id)
