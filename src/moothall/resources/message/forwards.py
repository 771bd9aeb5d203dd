"""Forwarding: a copy of a message as it is now, which nothing that happens to the message changes any more."""

from typing import Final

from msgspec import UNSET, Raw, Struct
from msgspec.json import Decoder

from moothall.kernel.channel_access import ChannelAccess, find_channel
from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.channel_types import VOICE
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.message import MessageReference
from moothall.objects.message_types import WRITTEN, MessageFlags, MessagePart, MessageReferenceType
from moothall.objects.permissions import Permissions
from moothall.objects.wire import encode
from moothall.resources.message.attachment.queries import MessageKey
from moothall.resources.message.drafts import MessageReferenceInput
from moothall.resources.message.pages import viewer_of
from moothall.resources.message.people import encoded_users
from moothall.resources.message.queries import MessageRow, hold_message

_SHOWN: Final = (
    "type", "content", "embeds", "attachments", "timestamp", "edited_timestamp", "flags", "mention_roles", "stickers",
    "sticker_items", "components",
)  # fmt: skip
"""What a snapshot shows of a message, besides the people mentioned."""

_decode = Decoder(dict[str, Raw]).decode


class Forwarded(Struct, frozen=True):
    """What becomes of a message that is forwarded."""

    reference: MessageReference
    snapshots: Raw
    source: MessageKey
    parts: int
    """Whether it names files."""


async def find_forwarded(ctx: Context, reference: MessageReferenceInput) -> Forwarded:
    """The message that a draft forwards, wherever the caller may read it.

    Raises Refusal: 404/10003 and 403/50001 for its channel, 403/160014 for what the caller may not
    read, 50035 at `message_reference` for a message that is not there, 400/50068 for one that cannot
    be forwarded: the system's, a poll, what is forwarded itself.
    """
    if reference.channel_id is None:
        refuse_field("message_reference.channel_id", *FieldError.required())
    user_id = ctx.actor.user_id
    access = await find_channel(ctx.services.states, ctx.tx, reference.channel_id, user_id, ctx.now, writes=ctx.writes)
    if access is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    needed = Permissions.VIEW_CHANNEL | (Permissions.CONNECT if access.channel.type in VOICE else 0)
    if access.permissions & needed != needed:
        raise Refusal(errors.MISSING_ACCESS)
    if not access.permissions & Permissions.READ_MESSAGE_HISTORY:
        raise Refusal(errors.FORWARD_UNREADABLE)
    # Not deleted before the copy of it has its files.
    row = await hold_message(ctx.tx, access.id, reference.message_id)
    guild_id = None if access.guild is None else access.guild.id
    if row is None or reference.guild_id not in {None, guild_id}:
        refuse_field("message_reference", FormCode.REPLIES_UNKNOWN_MESSAGE, "Unknown message")
    if not viewer_of(ctx.actor, in_guild=access.guild is not None).reads(row.author_id, row.mentions or ()):
        raise Refusal(errors.FORWARD_UNREADABLE)
    if row.type not in WRITTEN or row.parts & MessagePart.POLL or row.flags & MessageFlags.HAS_SNAPSHOT:
        raise Refusal(errors.INVALID_MESSAGE_TYPE, message="This message cannot be forwarded")
    source = (row.channel_id, row.id)
    return Forwarded(_reference(access, row), await _snapshots(ctx, row), source, row.parts & MessagePart.FILES)


def _reference(access: ChannelAccess, row: MessageRow) -> MessageReference:
    return MessageReference(
        type=MessageReferenceType.FORWARD,
        message_id=row.id,
        channel_id=access.id,
        guild_id=UNSET if access.guild is None else access.guild.id,
    )


async def _snapshots(ctx: Context, row: MessageRow) -> Raw:
    body = _decode(row.body)
    users = await encoded_users(ctx.tx, set(map(int, row.mentions or ())))
    mentions = Raw(b"[%b]" % b",".join(users[user_id] for user_id in row.mentions or () if user_id in users))
    shown = {key: body[key] for key in _SHOWN if key in body} | {"mentions": mentions}
    return Raw(encode([{"message": shown}]))
