"""Calls in direct messages and groups over HTTP (resources: channel, calls)."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.api.context import Context
from moothall.api.endpoint import get, patch, post
from moothall.api.ratelimit import Rate
from moothall.objects import limits
from moothall.objects.call import CallEligibility
from moothall.objects.ids import ChannelId, UserId
from moothall.resources.call import message_fields  # noqa: F401 registers the reader
from moothall.resources.call.access import CALL_RECIPIENT
from moothall.resources.call.events import CallUpdate
from moothall.resources.call.operations import ringing

_RING_RATE = Rate(5, 30.0)
"""Each one is heard by people."""

RecipientIds = Annotated[list[UserId], Meta(max_length=limits.GROUP_DM_RECIPIENTS_MAX)]


class ModifyCall(Struct, frozen=True):
    """The body of Modify Call."""

    region: str | UnsetType | None = UNSET


class RingRecipients(Struct, frozen=True):
    """The body of Ring Channel Recipients, and of Stop Ringing Channel Recipients; null is the same as absent."""

    recipients: RecipientIds | UnsetType | None = UNSET

    @property
    def user_ids(self) -> list[UserId] | None:
        """The users who are named; None for no list."""
        return None if self.recipients is UNSET else self.recipients


@get("/channels/{channel_id}/call", permission=CALL_RECIPIENT)
async def get_call_eligibility(ctx: Context, channel_id: ChannelId) -> CallEligibility:
    """Get whether there is anyone in a direct message or group whom the caller may ring."""
    return CallEligibility(ringable=await ringing.is_ringable(ctx))


@patch("/channels/{channel_id}/call", permission=CALL_RECIPIENT, fires=(CallUpdate,))
async def modify_call(ctx: Context, channel_id: ChannelId, body: ModifyCall) -> None:
    """Set the region of the call in a direct message or group; without a call, nothing happens."""
    if isinstance(body.region, str):
        await ringing.modify_region(ctx, body.region)


@post("/channels/{channel_id}/call/ring", permission=CALL_RECIPIENT, fires=(CallUpdate,), rate=_RING_RATE)
async def ring_channel_recipients(ctx: Context, channel_id: ChannelId, body: RingRecipients) -> None:
    """Ring recipients of the call in a direct message or group, all unless named; without a call, nothing happens."""
    await ringing.ring(ctx, body.user_ids)


@post("/channels/{channel_id}/call/stop-ringing", permission=CALL_RECIPIENT, fires=(CallUpdate,))
async def stop_ringing_channel_recipients(ctx: Context, channel_id: ChannelId, body: RingRecipients) -> None:
    """Stop ringing recipients, the caller unless others are named: who declines a call is not rung any longer."""
    await ringing.stop_ringing(ctx, body.user_ids)
