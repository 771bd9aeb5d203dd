"""Webhooks over HTTP (api.md, Webhooks)."""

from moothall.api.context import Context
from moothall.api.endpoint import Json, delete, get, patch, post
from moothall.api.ratelimit import WEBHOOK_RATE
from moothall.objects.ids import ChannelId, GuildId, MessageId, WebhookId
from moothall.objects.message import Message
from moothall.objects.permissions import Permissions
from moothall.objects.webhook import Webhook
from moothall.resources.channel.events import DirectChannelCreate
from moothall.resources.channel.thread_activity.events import UNARCHIVE_EVENTS, ThreadCreate
from moothall.resources.message.events import MessageCreate, MessageDelete, MessageUpdate
from moothall.resources.message.requests import EditMessage
from moothall.resources.webhook import messages, operations, queries
from moothall.resources.webhook.access import (
    MANAGES_OR_OWNS_WEBHOOK,
    MANAGES_WEBHOOK,
    WEBHOOK_OR_INTERACTION_TOKEN,
    WEBHOOK_TOKEN,
    followup_handler_of,
    webhook_of,
)
from moothall.resources.webhook.events import WebhooksUpdate
from moothall.resources.webhook.messages import WEBHOOK_UPLOADS
from moothall.resources.webhook.requests import (
    CreateWebhook,
    ExecuteWebhook,
    ModifyWebhook,
    ModifyWebhookWithToken,
)


@post(
    "/channels/{channel_id}/webhooks",
    permission=Permissions.MANAGE_WEBHOOKS,
    audit_reason=True,
    fires=(WebhooksUpdate,),
)
async def create_webhook(ctx: Context, channel_id: ChannelId, body: CreateWebhook) -> Webhook:
    """Create a webhook in a channel, which may have 15."""
    return await operations.create_webhook(ctx, body)


@get("/channels/{channel_id}/webhooks", permission=Permissions.MANAGE_WEBHOOKS)
async def get_channel_webhooks(ctx: Context, channel_id: ChannelId) -> list[Webhook]:
    """List a channel's webhooks."""
    return await operations.show_webhooks(ctx, await queries.select_of_channel(ctx.tx, channel_id))


@get("/guilds/{guild_id}/webhooks", permission=Permissions.MANAGE_WEBHOOKS)
async def get_guild_webhooks(ctx: Context, guild_id: GuildId) -> list[Webhook]:
    """List a guild's webhooks in channels where the caller has MANAGE_WEBHOOKS."""
    channels = await ctx.guild.channels(ctx.tx)
    managed = {
        channel.id for channel in channels.values() if ctx.member.permissions_in(channel) & Permissions.MANAGE_WEBHOOKS
    }
    rows = await queries.select_of_guild(ctx.tx, guild_id)
    return await operations.show_webhooks(ctx, [row for row in rows if row.channel_id in managed])


@get("/webhooks/{webhook_id}", permission=MANAGES_OR_OWNS_WEBHOOK)
async def get_webhook(ctx: Context, webhook_id: WebhookId) -> Webhook:
    """Get a webhook; the application that owns it needs no permission."""
    return await operations.show_webhook(ctx, webhook_of(ctx))


@patch("/webhooks/{webhook_id}", permission=MANAGES_WEBHOOK, audit_reason=True, fires=(WebhooksUpdate,))
async def modify_webhook(ctx: Context, webhook_id: WebhookId, body: ModifyWebhook) -> Webhook:
    """Modify the name, avatar or channel of a webhook."""
    return await operations.show_webhook(ctx, await operations.modify_webhook(ctx, webhook_of(ctx), body))


@delete("/webhooks/{webhook_id}", permission=MANAGES_WEBHOOK, audit_reason=True, fires=(WebhooksUpdate,))
async def delete_webhook(ctx: Context, webhook_id: WebhookId) -> None:
    """Delete a webhook."""
    await operations.delete_webhook(ctx, webhook_of(ctx))


@get("/webhooks/{webhook_id}/{webhook_token}", permission=WEBHOOK_TOKEN)
async def get_webhook_with_token(ctx: Context, webhook_id: WebhookId, webhook_token: str) -> Webhook:
    """Get a webhook by its token, without its creator."""
    return await operations.show_webhook(ctx, webhook_of(ctx), with_user=False, knows_token=True)


@patch("/webhooks/{webhook_id}/{webhook_token}", permission=WEBHOOK_TOKEN, audit_reason=True, fires=(WebhooksUpdate,))
async def modify_webhook_with_token(
    ctx: Context, webhook_id: WebhookId, webhook_token: str, body: ModifyWebhookWithToken
) -> Webhook:
    """Modify the name or avatar of a webhook by its token."""
    row = await operations.modify_webhook(ctx, webhook_of(ctx), body)
    return await operations.show_webhook(ctx, row, with_user=False, knows_token=True)


@delete("/webhooks/{webhook_id}/{webhook_token}", permission=WEBHOOK_TOKEN, audit_reason=True, fires=(WebhooksUpdate,))
async def delete_webhook_with_token(ctx: Context, webhook_id: WebhookId, webhook_token: str) -> None:
    """Delete a webhook by its token."""
    await operations.delete_webhook(ctx, webhook_of(ctx))


@post(
    "/webhooks/{webhook_id}/{webhook_token}",
    permission=WEBHOOK_OR_INTERACTION_TOKEN,
    fires=(MessageCreate, MessageUpdate, DirectChannelCreate, ThreadCreate, *UNARCHIVE_EVENTS),
    rate=WEBHOOK_RATE,
    uploads=WEBHOOK_UPLOADS,
    forms=True,
)
async def execute_webhook(
    ctx: Context,
    webhook_id: WebhookId,
    webhook_token: str,
    body: ExecuteWebhook,
    *,
    wait: bool = False,
    thread_id: ChannelId | None = None,
    with_components: bool = False,
) -> Json[Message] | None:
    """Post a message as a webhook; return it with `wait`, else 204.

    With the token of an interaction, create a followup, which is always returned.
    """
    if (handler := followup_handler_of(ctx)) is not None:
        return Json(await handler.execute(ctx, body))
    message = await messages.execute_webhook(
        ctx, webhook_of(ctx), body, thread_id=thread_id, with_components=with_components
    )
    return Json(message) if wait else None


@get("/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}", permission=WEBHOOK_OR_INTERACTION_TOKEN)
async def get_webhook_message(
    ctx: Context,
    webhook_id: WebhookId,
    webhook_token: str,
    message_id: MessageId,
    *,
    thread_id: ChannelId | None = None,
) -> Json[Message]:
    """Get a message of the webhook, or a followup of an interaction."""
    if (handler := followup_handler_of(ctx)) is not None:
        return Json(await handler.get(ctx, message_id))
    return Json(await messages.get_message(ctx, webhook_of(ctx), message_id, thread_id=thread_id))


@patch(
    "/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}",
    permission=WEBHOOK_OR_INTERACTION_TOKEN,
    fires=(MessageUpdate,),
    uploads=WEBHOOK_UPLOADS,
    forms=True,
)
async def edit_webhook_message(
    ctx: Context,
    webhook_id: WebhookId,
    webhook_token: str,
    message_id: MessageId,
    body: EditMessage,
    *,
    thread_id: ChannelId | None = None,
    with_components: bool = False,
) -> Json[Message]:
    """Edit a message of the webhook, or a followup of an interaction."""
    if (handler := followup_handler_of(ctx)) is not None:
        return Json(await handler.edit(ctx, message_id, body))
    return Json(
        await messages.edit_message(
            ctx, webhook_of(ctx), message_id, body, thread_id=thread_id, with_components=with_components
        )
    )


@delete(
    "/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}",
    permission=WEBHOOK_OR_INTERACTION_TOKEN,
    fires=(MessageDelete,),
)
async def delete_webhook_message(
    ctx: Context,
    webhook_id: WebhookId,
    webhook_token: str,
    message_id: MessageId,
    *,
    thread_id: ChannelId | None = None,
) -> None:
    """Delete a message of the webhook, or a followup of an interaction."""
    if (handler := followup_handler_of(ctx)) is not None:
        await handler.delete(ctx, message_id)
        return
    await messages.delete_message(ctx, webhook_of(ctx), message_id, thread_id=thread_id)
