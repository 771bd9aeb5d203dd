"""Issuing proxy tickets to participants (Activities: multiplayer experience)."""

from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.clock import CLOCK
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId
from moothall.objects.proxy_ticket import TICKET_SECONDS, ProxyTicket, SignedPayload
from moothall.objects.wire import encode
from moothall.resources.activity.access import is_developer
from moothall.resources.activity.queries import select_channels_of_participant
from moothall.resources.application.endpoint_requests import signing_key
from moothall.resources.application.queries import ApplicationRow


async def issue_ticket(ctx: Context, application: ApplicationRow, channel_id: ChannelId | None) -> str:
    """A ticket for the caller, who takes part in an instance of the application, with `channel_id` in that channel.

    Raises Refusal: 403/50001 for a user who does not.
    """
    user_id = ctx.actor.user_id
    channel_ids = await select_channels_of_participant(ctx.tx, application.id, user_id)
    if not channel_ids or (channel_id is not None and channel_id not in channel_ids):
        raise Refusal(errors.MISSING_ACCESS)
    now = int(CLOCK.now())
    payload = encode(
        ProxyTicket(
            application_id=application.id,
            user_id=user_id,
            is_developer=await is_developer(ctx, application, user_id),
            created_at=now,
            expires_at=now + TICKET_SECONDS,
        )
    )
    return SignedPayload(payload, signing_key(ctx.services, application).sign(payload)).text()
