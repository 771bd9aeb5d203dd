"""Interactions over HTTP (interactions: receiving and responding)."""

from moothall.kernel.access import MEMBER, PERSON
from moothall.kernel.context import Context
from moothall.kernel.endpoint import Json, delete, get, patch, post
from moothall.kernel.ratelimit import ANSWER_RATE, ANSWERED_RATE
from moothall.objects.command_index import CommandIndex
from moothall.objects.ids import ChannelId, GuildId, InteractionId, WebhookId
from moothall.objects.interaction import (
    ActivityInstance,
    CallbackInteraction,
    CallbackResource,
    CallbackResponse,
)
from moothall.objects.message import Message
from moothall.objects.wire import encode
from moothall.resources.channel.events import DirectChannelCreate
from moothall.resources.channel.thread_activity.events import WAKES
from moothall.resources.interaction import following, listing
from moothall.resources.interaction.access import (
    ANSWERS_INTERACTION,
    BY_INTERACTION,
    BY_PERSON,
    FOLLOWS_INTERACTION,
    interaction_of,
)
from moothall.resources.interaction.answering import ANSWERING, Answered, answer
from moothall.resources.interaction.events import InteractionCreate, InteractionRaised, InteractionSuccess
from moothall.resources.interaction.jobs import enqueue_forgetting
from moothall.resources.interaction.messages import delete_posted, edit_posted, show_posted
from moothall.resources.interaction.queries import InteractionRow
from moothall.resources.interaction.raising import raise_interaction
from moothall.resources.interaction.requests import Callback, RaiseInteraction
from moothall.resources.message.drafts import EditMessage
from moothall.resources.message.events import MessageCreate, MessageDelete, MessageUpdate


@get("/guilds/{guild_id}/application-command-index", permission=MEMBER)
async def get_guild_application_command_index(ctx: Context, guild_id: GuildId) -> CommandIndex:
    """The commands of a guild's applications that the caller may use somewhere in it."""
    return await listing.commands_in_guild(ctx)


@get("/channels/{channel_id}/application-command-index", permission=MEMBER)
async def get_channel_application_command_index(ctx: Context, channel_id: ChannelId) -> CommandIndex:
    """The commands that the caller may use in a channel, those of their own applications as well."""
    return await listing.commands_in_channel(ctx)


@get("/users/@me/application-command-index", permission=PERSON)
async def get_my_application_command_index(ctx: Context) -> CommandIndex:
    """The commands of the applications that the caller has installed to their account."""
    return await listing.commands_of_user(ctx)


@post(
    "/interactions",
    permission=PERSON,
    fires=(InteractionCreate, InteractionRaised, InteractionSuccess, MessageCreate, DirectChannelCreate, *WAKES),
    status=204,
    uploads=BY_PERSON,
)
async def create_interaction(ctx: Context, body: RaiseInteraction) -> None:
    """Use a command, a component or a modal, as a person's client does; what becomes of it is told over the gateway."""
    await raise_interaction(ctx, body)
    await enqueue_forgetting(ctx, ctx.now)


@post(
    "/interactions/{interaction_id}/{interaction_token}/callback",
    permission=ANSWERS_INTERACTION,
    fires=ANSWERING,
    uploads=BY_INTERACTION,
    rate=ANSWER_RATE,
)
async def create_interaction_response(
    ctx: Context,
    interaction_id: InteractionId,
    interaction_token: str,
    body: Callback,
    *,
    with_response: bool = False,
) -> Json[CallbackResponse] | None:
    """Answer an interaction, within three seconds and once."""
    row = interaction_of(ctx)
    done = await answer(ctx, row, body)
    return Json(_response(row, body, done)) if with_response else None


@get(
    "/webhooks/{webhook_id}/{webhook_token}/messages/@original",
    permission=FOLLOWS_INTERACTION,
    rate=ANSWERED_RATE,
)
async def get_original_webhook_message(ctx: Context, webhook_id: WebhookId, webhook_token: str) -> Json[Message]:
    """The message that answered an interaction."""
    row = interaction_of(ctx)
    return Json(await show_posted(ctx, row, *following.original_of(row)))


@patch(
    "/webhooks/{webhook_id}/{webhook_token}/messages/@original",
    permission=FOLLOWS_INTERACTION,
    fires=(MessageUpdate,),
    uploads=BY_INTERACTION,
    rate=ANSWERED_RATE,
)
async def update_original_webhook_message(
    ctx: Context, webhook_id: WebhookId, webhook_token: str, body: EditMessage
) -> Json[Message]:
    """Change the message that answered an interaction; one that was promised is there then."""
    row = interaction_of(ctx)
    room_id, message_id = following.original_of(row)
    return Json(await edit_posted(ctx, row, room_id, message_id, body))


@delete(
    "/webhooks/{webhook_id}/{webhook_token}/messages/@original",
    permission=FOLLOWS_INTERACTION,
    fires=(MessageDelete,),
    rate=ANSWERED_RATE,
)
async def delete_original_webhook_message(ctx: Context, webhook_id: WebhookId, webhook_token: str) -> None:
    """Remove the message that answered an interaction."""
    row = interaction_of(ctx)
    await delete_posted(ctx, row, *following.original_of(row))


def _response(row: InteractionRow, callback: Callback, done: Answered) -> bytes:
    """What an answer has made, with the message as it is stored."""
    told = CallbackInteraction(id=row.id, type=row.type)
    resource: bytes | None = None
    kind = int(callback.type)
    if done.posted is not None:
        posted = done.posted
        told = CallbackInteraction(
            id=row.id,
            type=row.type,
            response_message_id=posted.id,
            response_message_loading=posted.loading,
            response_message_ephemeral=posted.ephemeral,
        )
        if not posted.loading:
            # What is only promised is no resource yet: the public description knows none of that type.
            resource = b'{"type":%d,"message":%b}' % (kind, posted.data)
    elif done.updated is not None and row.source_id is not None:
        told = CallbackInteraction(
            id=row.id,
            type=row.type,
            response_message_id=row.source_id,
            response_message_loading=False,
            response_message_ephemeral=row.source_room_id != row.channel_id,
        )
        resource = b'{"type":%d,"message":%b}' % (kind, done.updated)
    elif done.activity is not None:
        told = CallbackInteraction(id=row.id, type=row.type, activity_instance_id=done.activity)
        resource = encode(CallbackResource(type=kind, activity_instance=ActivityInstance(done.activity)))
    shown = b"" if resource is None else b',"resource":' + resource
    return b'{"interaction":%b%b}' % (encode(told), shown)
