"""The channel of an interaction: the bot's access to it, the rooms of its messages, and the flags of responses.

A room id is what messages are stored under: the channel's id, or for ephemeral messages the interaction's id. No
channel has an interaction's id, so that no list, search or page of a channel contains ephemeral messages.
"""

from typing import Final

from msgspec import structs

from moothall.api.context import Context
from moothall.authority.channel_access import ChannelAccess, find_channel
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, UserId
from moothall.objects.message_types import SETTABLE, MessageFlags
from moothall.objects.permissions import Permissions
from moothall.resources.component.resolved_ids import Sender
from moothall.resources.interaction.queries import InteractionRow

_RESPONSE_FLAGS: Final = SETTABLE | MessageFlags.IS_VOICE_MESSAGE | MessageFlags.EPHEMERAL


async def bot_access(ctx: Context, row: InteractionRow) -> ChannelAccess:
    """The channel of an interaction with the permissions of the application's bot. Raises Refusal: 404/10003."""
    access = await find_channel(ctx.services.states, ctx.tx, row.channel_id, bot_id(row), ctx.now, writes=ctx.writes)
    if access is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    return access


def bot_id(row: InteractionRow) -> UserId:
    """The user id of the bot that responds to an interaction; it is the application's id."""
    return UserId(row.application_id)


def component_sender(row: InteractionRow) -> Sender:
    """The sender whose emojis the components of a response may use."""
    return Sender(user_id=bot_id(row), application_id=row.application_id)


def is_ephemeral(flags: int | None) -> bool:
    """Whether the flags of a response have EPHEMERAL."""
    return bool((flags or 0) & MessageFlags.EPHEMERAL)


def response_room_id(row: InteractionRow, access: ChannelAccess, *, ephemeral: bool) -> ChannelId:
    """The room id of a new message of an interaction."""
    return ChannelId(row.id) if ephemeral else access.id


def room_access(row: InteractionRow, access: ChannelAccess, room_id: ChannelId) -> ChannelAccess:
    """The access to a room: the channel itself, or the room of ephemeral messages, whose only recipient is the user."""
    if room_id == access.id:
        return access
    return ChannelAccess(
        structs.replace(access.channel, id=room_id),
        access.permissions,
        recipients=(row.user_id,),
        shown=(access.id, row.guild_id),
    )


async def response_flags(ctx: Context, row: InteractionRow, access: ChannelAccess, flags: int | None) -> int:
    """The flags of a new message of an interaction, without those that cannot be set.

    In a guild, messages of an application that is installed to the user only are EPHEMERAL, unless the user has
    USE_EXTERNAL_APPS in the channel.
    """
    bits = (flags or 0) & _RESPONSE_FLAGS
    if access.guild is None or "0" in row.owners:
        return bits
    user = await find_channel(ctx.services.states, ctx.tx, access.id, row.user_id, ctx.now, writes=ctx.writes)
    allowed = user is not None and user.permissions & Permissions.USE_EXTERNAL_APPS
    return bits if allowed else bits | MessageFlags.EPHEMERAL
