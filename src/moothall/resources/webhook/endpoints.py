"""Webhooks over HTTP (api.md, Webhooks)."""

from moothall.kernel.context import Context
from moothall.kernel.endpoint import Json, delete, get, patch, post
from moothall.kernel.ratelimit import WEBHOOK_RATE
from moothall.objects.ids import ChannelId, GuildId, MessageId, WebhookId
from moothall.objects.message import Message
from moothall.objects.permissions import Permissions
from moothall.objects.webhook import Webhook
from moothall.resources.channel.events import DirectChannelCreate
from moothall.resources.channel.thread_activity.events import WAKES, ThreadCreate
from moothall.resources.message.drafts import EditMessage
from moothall.resources.message.events import MessageCreate, MessageDelete, MessageUpdate
from moothall.resources.webhook import executing, operations, queries
from moothall.resources.webhook.access import (
    ANY_TOKEN,
    MANAGES_WEBHOOK,
    READS_WEBHOOK,
    WEBHOOK_TOKEN,
    continuation_of,
    webhook_of,
)
from moothall.resources.webhook.events import WebhooksUpdate
from moothall.resources.webhook.requests import (
    CreateWebhook,
    ExecuteWebhook,
    ModifyWebhook,
    ModifyWebhookWithToken,
)
from moothall.resources.webhook.uploads import BY_WEBHOOK


@post(
    "/channels/{channel_id}/webhooks",
    permission=Permissions.MANAGE_WEBHOOKS,
    audit_reason=True,
    fires=(WebhooksUpdate,),
)
async def create_webhook(ctx: Context, channel_id: ChannelId, body: CreateWebhook) -> Webhook:
    """Make a webhook in a channel; at most 15 of them."""
    return await operations.create_webhook(ctx, body)


@get("/channels/{channel_id}/webhooks", permission=Permissions.MANAGE_WEBHOOKS)
async def get_channel_webhooks(ctx: Context, channel_id: ChannelId) -> list[Webhook]:
    """List a channel's webhooks."""
    return await operations.show_webhooks(ctx, await queries.select_of_channel(ctx.tx, channel_id))


@get("/guilds/{guild_id}/webhooks", permission=Permissions.MANAGE_WEBHOOKS)
async def get_guild_webhooks(ctx: Context, guild_id: GuildId) -> list[Webhook]:
    """List a guild's webhooks, of the channels where the caller manages them."""
    channels = await ctx.guild.channels(ctx.tx)
    managed = {
        channel.id for channel in channels.values() if ctx.member.permissions_in(channel) & Permissions.MANAGE_WEBHOOKS
    }
    rows = await queries.select_of_guild(ctx.tx, guild_id)
    return await operations.show_webhooks(ctx, [row for row in rows if row.channel_id in managed])


@get("/webhooks/{webhook_id}", permission=READS_WEBHOOK)
async def get_webhook(ctx: Context, webhook_id: WebhookId) -> Webhook:
    """Fetch a webhook; the application that owns it needs no permission."""
    return await operations.show_webhook(ctx, webhook_of(ctx))


@patch("/webhooks/{webhook_id}", permission=MANAGES_WEBHOOK, audit_reason=True, fires=(WebhooksUpdate,))
async def modify_webhook(ctx: Context, webhook_id: WebhookId, body: ModifyWebhook) -> Webhook:
    """Rename a webhook, give it another avatar, or move it to another channel."""
    return await operations.show_webhook(ctx, await operations.modify_webhook(ctx, webhook_of(ctx), body))


@delete("/webhooks/{webhook_id}", permission=MANAGES_WEBHOOK, audit_reason=True, fires=(WebhooksUpdate,))
async def delete_webhook(ctx: Context, webhook_id: WebhookId) -> None:
    """Delete a webhook."""
    await operations.delete_webhook(ctx, webhook_of(ctx))


@get("/webhooks/{webhook_id}/{webhook_token}", permission=WEBHOOK_TOKEN)
async def get_webhook_with_token(ctx: Context, webhook_id: WebhookId, webhook_token: str) -> Webhook:
    """Fetch a webhook by its token, without its creator."""
    return await operations.show_webhook(ctx, webhook_of(ctx), with_user=False)


@patch("/webhooks/{webhook_id}/{webhook_token}", permission=WEBHOOK_TOKEN, audit_reason=True, fires=(WebhooksUpdate,))
async def modify_webhook_with_token(
    ctx: Context, webhook_id: WebhookId, webhook_token: str, body: ModifyWebhookWithToken
) -> Webhook:
    """Rename a webhook or give it another avatar, by its token."""
    row = await operations.modify_webhook(ctx, webhook_of(ctx), body)
    return await operations.show_webhook(ctx, row, with_user=False)


@delete("/webhooks/{webhook_id}/{webhook_token}", permission=WEBHOOK_TOKEN, audit_reason=True, fires=(WebhooksUpdate,))
async def delete_webhook_with_token(ctx: Context, webhook_id: WebhookId, webhook_token: str) -> None:
    """Delete a webhook by its token."""
    await operations.delete_webhook(ctx, webhook_of(ctx))


@post(
    "/webhooks/{webhook_id}/{webhook_token}",
    permission=ANY_TOKEN,
    fires=(MessageCreate, MessageUpdate, DirectChannelCreate, ThreadCreate, *WAKES),
    rate=WEBHOOK_RATE,
    uploads=BY_WEBHOOK,
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
    """Post a message through a webhook; with `wait` it is answered, else there is nothing to tell.

    By the token of an interaction this is a followup, which is always answered.
    """
    if (followed := continuation_of(ctx)) is not None:
        return Json(await followed.execute(ctx, body))
    message = await executing.execute_webhook(
        ctx, webhook_of(ctx), body, thread_id=thread_id, with_components=with_components
    )
    return Json(message) if wait else None


@get("/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}", permission=ANY_TOKEN)
async def get_webhook_message(
    ctx: Context,
    webhook_id: WebhookId,
    webhook_token: str,
    message_id: MessageId,
    *,
    thread_id: ChannelId | None = None,
) -> Json[Message]:
    """Fetch a message that the webhook has sent, or a followup of an interaction."""
    if (followed := continuation_of(ctx)) is not None:
        return Json(await followed.get(ctx, message_id))
    return Json(await executing.get_message(ctx, webhook_of(ctx), message_id, thread_id=thread_id))


@patch(
    "/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}",
    permission=ANY_TOKEN,
    fires=(MessageUpdate,),
    uploads=BY_WEBHOOK,
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
    """Edit a message that the webhook has sent, or a followup of an interaction."""
    if (followed := continuation_of(ctx)) is not None:
        return Json(await followed.edit(ctx, message_id, body))
    return Json(
        await executing.edit_message(
            ctx, webhook_of(ctx), message_id, body, thread_id=thread_id, with_components=with_components
        )
    )


@delete("/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}", permission=ANY_TOKEN, fires=(MessageDelete,))
async def delete_webhook_message(
    ctx: Context,
    webhook_id: WebhookId,
    webhook_token: str,
    message_id: MessageId,
    *,
    thread_id: ChannelId | None = None,
) -> None:
    """Delete a message that the webhook has sent, or a followup of an interaction."""
    if (followed := continuation_of(ctx)) is not None:
        await followed.delete(ctx, message_id)
        return
    await executing.delete_message(ctx, webhook_of(ctx), message_id, thread_id=thread_id)
