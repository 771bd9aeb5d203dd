"""Message requests over HTTP (resources: channel, message requests)."""

from typing import Annotated

from msgspec import Meta

from moothall.api.access import MEMBER, PERSON
from moothall.api.context import Context
from moothall.api.endpoint import Json, delete, get, put
from moothall.objects import limits
from moothall.objects.channel import Channel, ConsentStatus
from moothall.objects.errors import refuse_field
from moothall.objects.form_codes import FieldError
from moothall.objects.ids import ChannelId, MessageId, Snowflake, snowflake_at
from moothall.objects.message import SupplementalMessageRequest
from moothall.resources.channel.events import DirectChannelUpdate
from moothall.resources.message.queries import select_page
from moothall.resources.message.rendering import Viewer, encode_rows
from moothall.resources.message_request import operations
from moothall.resources.message_request.requests import RejectMessageRequests, UpdateMessageRequest

ChannelIds = Annotated[list[ChannelId], Meta(min_length=1, max_length=limits.MESSAGE_REQUESTS_PREVIEWED_AT_ONCE)]


@put("/channels/{channel_id}/recipients/@me", permission=MEMBER, fires=(DirectChannelUpdate,), status=200)
async def update_message_request(ctx: Context, channel_id: ChannelId, body: UpdateMessageRequest) -> Channel:
    """Accept a message request, as writing in it does."""
    if body.consent_status != ConsentStatus.ACCEPTED:
        refuse_field("consent_status", *FieldError.choices((str(int(ConsentStatus.ACCEPTED)),)))
    return await operations.accept_message_request(ctx)


@delete("/channels/{channel_id}/recipients/@me", permission=MEMBER, fires=operations.REJECT_EVENTS, status=200)
async def reject_message_request(ctx: Context, channel_id: ChannelId) -> Channel:
    """Reject and close a message request; its sender may not write until they are a friend or share a guild."""
    return (await operations.reject_message_requests(ctx, [channel_id]))[0]


@put("/channels/recipients/@me/batch-reject", permission=PERSON, fires=operations.REJECT_EVENTS)
async def batch_reject_message_requests(ctx: Context, body: RejectMessageRequests) -> list[Channel]:
    """Reject and close several message requests; all or none."""
    return await operations.reject_message_requests(ctx, list(dict.fromkeys(body.channel_ids)))


@get("/users/@me/message-requests/supplemental-data", permission=PERSON)
async def get_supplemental_message_request_data(
    ctx: Context, *, channel_ids: ChannelIds
) -> Json[list[SupplementalMessageRequest]]:
    """Get the first message of each message request; those whose messages are deleted are left out."""
    previews = []
    for channel_id, recipient in (await operations.pending_requests(ctx, list(dict.fromkeys(channel_ids)))).items():
        if recipient.requested_at is not None:
            after = MessageId(Snowflake(snowflake_at(recipient.requested_at) - 1))
            rows = await select_page(ctx.tx, channel_id, around=None, before=None, after=after, maximum=1)
            encoded = await encode_rows(ctx.tx, channel_id, rows, Viewer(ctx.actor.user_id))
            previews += [b'{"channel_id":"%d","message_preview":%b}' % (channel_id, each) for each in encoded]
    return Json(b"[%b]" % b",".join(previews))
