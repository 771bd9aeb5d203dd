"""Interactions over HTTP (interactions: receiving and responding)."""

from moothall.api.access import MEMBER, PERSON
from moothall.api.context import Context
from moothall.api.endpoint import Json, delete, get, patch, post
from moothall.api.ratelimit import CALLBACK_RATE, INTERACTION_RESPONSE_RATE
from moothall.objects.command_index import CommandIndex
from moothall.objects.ids import ChannelId, GuildId, InteractionId, WebhookId
from moothall.objects.interaction import CallbackResponse
from moothall.objects.message import Message
from moothall.resources.activity.operations import ACTIVITY_EVENTS
from moothall.resources.channel.events import DirectChannelCreate
from moothall.resources.channel.thread_activity.events import UNARCHIVE_EVENTS
from moothall.resources.interaction import command_index
from moothall.resources.interaction.access import (
    INTERACTION_TOKEN,
    INTERACTION_WEBHOOK_TOKEN,
    RESPONSE_UPLOADS,
    SUBMITTED_UPLOADS,
    interaction_of,
)
from moothall.resources.interaction.events import InteractionCreate, InteractionCreateAck, InteractionSuccess
from moothall.resources.interaction.jobs import enqueue_expiry
from moothall.resources.interaction.operations import create
from moothall.resources.interaction.operations.messages import delete_interaction_message, edit_interaction_message
from moothall.resources.interaction.operations.respond import RESPONSE_EVENTS, respond
from moothall.resources.interaction.requests import CreateInteraction, InteractionResponse
from moothall.resources.interaction.respond.callback_response import build_callback_response
from moothall.resources.interaction.respond.message_lookup import get_interaction_message, original_response
from moothall.resources.message.events import MessageCreate, MessageDelete, MessageUpdate
from moothall.resources.message.requests import EditMessage


@get("/guilds/{guild_id}/application-command-index", permission=MEMBER)
async def get_guild_application_command_index(ctx: Context, guild_id: GuildId) -> CommandIndex:
    """The commands of the guild's applications that the caller can use in some channel of it."""
    return await command_index.get_guild_index(ctx)


@get("/channels/{channel_id}/application-command-index", permission=MEMBER)
async def get_channel_application_command_index(ctx: Context, channel_id: ChannelId) -> CommandIndex:
    """The commands that the caller can use in a channel, including those of applications they have installed."""
    return await command_index.get_channel_index(ctx)


@get("/users/@me/application-command-index", permission=PERSON)
async def get_my_application_command_index(ctx: Context) -> CommandIndex:
    """The commands of the applications that the caller has installed to their account."""
    return await command_index.get_user_index(ctx)


@post(
    "/interactions",
    permission=PERSON,
    fires=(
        InteractionCreate,
        InteractionCreateAck,
        InteractionSuccess,
        MessageCreate,
        DirectChannelCreate,
        *UNARCHIVE_EVENTS,
        *ACTIVITY_EVENTS,
    ),
    status=204,
    uploads=SUBMITTED_UPLOADS,
)
async def create_interaction(ctx: Context, body: CreateInteraction) -> None:
    """Use a command, a component or a modal as a user's client does; the outcome is announced over the gateway."""
    await create.create_interaction(ctx, body)
    await enqueue_expiry(ctx, ctx.now)


@post(
    "/interactions/{interaction_id}/{interaction_token}/callback",
    permission=INTERACTION_TOKEN,
    fires=RESPONSE_EVENTS,
    uploads=RESPONSE_UPLOADS,
    forms=True,
    rate=CALLBACK_RATE,
)
async def create_interaction_response(
    ctx: Context,
    interaction_id: InteractionId,
    interaction_token: str,
    body: InteractionResponse,
    *,
    with_response: bool = False,
) -> Json[CallbackResponse] | None:
    """Respond to an interaction, once, within three seconds."""
    row = interaction_of(ctx)
    result = await respond(ctx, row, body)
    return Json(build_callback_response(row, body.type, result)) if with_response else None


@get(
    "/webhooks/{webhook_id}/{webhook_token}/messages/@original",
    permission=INTERACTION_WEBHOOK_TOKEN,
    rate=INTERACTION_RESPONSE_RATE,
)
async def get_original_webhook_message(ctx: Context, webhook_id: WebhookId, webhook_token: str) -> Json[Message]:
    """The original response to an interaction."""
    row = interaction_of(ctx)
    return Json(await get_interaction_message(ctx, row, *original_response(row)))


@patch(
    "/webhooks/{webhook_id}/{webhook_token}/messages/@original",
    permission=INTERACTION_WEBHOOK_TOKEN,
    fires=(MessageUpdate,),
    uploads=RESPONSE_UPLOADS,
    forms=True,
    rate=INTERACTION_RESPONSE_RATE,
)
async def update_original_webhook_message(
    ctx: Context, webhook_id: WebhookId, webhook_token: str, body: EditMessage
) -> Json[Message]:
    """Edit the original response to an interaction; the first edit fills a deferred one."""
    row = interaction_of(ctx)
    room_id, message_id = original_response(row)
    return Json(await edit_interaction_message(ctx, row, room_id, message_id, body))


@delete(
    "/webhooks/{webhook_id}/{webhook_token}/messages/@original",
    permission=INTERACTION_WEBHOOK_TOKEN,
    fires=(MessageDelete,),
    rate=INTERACTION_RESPONSE_RATE,
)
async def delete_original_webhook_message(ctx: Context, webhook_id: WebhookId, webhook_token: str) -> None:
    """Delete the original response to an interaction."""
    row = interaction_of(ctx)
    await delete_interaction_message(ctx, row, *original_response(row))
