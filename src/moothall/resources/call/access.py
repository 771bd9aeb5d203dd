"""Access to the endpoints of calls."""

from typing import Final

from moothall.api.access import PERSON, Access, PathValues, enter
from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import Refusal


class CallRecipient(Access):
    """People who are recipients of the direct message or group in the path."""

    label = "person"

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Enter the channel. Raises Refusal: 403/20001 for bots, 404/10003, 403/50001, 400/50024 for other types."""
        await PERSON.check(ctx, path)
        await enter(ctx, path)
        require_private_channel(ctx)


def require_private_channel(ctx: Context) -> None:
    """Refuse (400/50024) unless the channel entered is a direct message or a group."""
    if ctx.in_guild or ctx.channel.channel.type not in {ChannelType.DM, ChannelType.GROUP_DM}:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)


CALL_RECIPIENT: Final = CallRecipient()
