"""Nonces: a message that a client sends again after a broken connection is created once."""

from typing import Final

from moothall.api.context import Context
from moothall.objects.ids import ChannelId, MessageId, UserId
from moothall.objects.wire import Timestamp, encode
from moothall.resources.message.drafts import Draft
from moothall.resources.message.queries import nonces as queries
from moothall.resources.message.rendering import Viewer, message_bytes

_REMEMBERED_MS: Final = 5 * 60 * 1000
_SWEEP_EVERY_MS: Final = 60 * 1000


class NonceSweep:
    """When this process last deleted old nonces, in milliseconds since the Unix epoch."""

    __slots__ = ("last",)

    def __init__(self) -> None:
        self.last = 0


async def claim_nonce(
    ctx: Context, channel_id: ChannelId, author_id: UserId, draft: Draft, message_id: MessageId
) -> bytes | None:
    """Store the nonce of a draft for the message that it becomes.

    If the draft has `enforce_nonce` and the author used the nonce in the channel within the last five minutes, returns
    that earlier message as JSON, and no message is to be sent.
    """
    nonce = str(draft.nonce)
    await _delete_old_nonces(ctx)
    if not draft.enforce_nonce:
        await queries.upsert_nonce(ctx.tx, channel_id, author_id, nonce, message_id, ctx.now)
        return None
    if await queries.insert_nonce(ctx.tx, channel_id, author_id, nonce, message_id, ctx.now):
        return None
    since = Timestamp(ctx.now - _REMEMBERED_MS)
    earlier = await queries.select_nonce(ctx.tx, channel_id, author_id, nonce, since)
    if earlier is not None:
        shown = await message_bytes(ctx.tx, channel_id, [earlier], Viewer(author_id))
        if earlier in shown:
            return b'%b,"nonce":%b}' % (shown[earlier][:-1], encode(draft.nonce))
    await queries.upsert_nonce(ctx.tx, channel_id, author_id, nonce, message_id, ctx.now)
    return None


async def _delete_old_nonces(ctx: Context) -> None:
    sweep = ctx.services.resources[NonceSweep]
    if ctx.now - sweep.last >= _SWEEP_EVERY_MS:
        sweep.last = ctx.now
        await queries.delete_nonces(ctx.tx, Timestamp(ctx.now - _REMEMBERED_MS))
