"""Nonces: sending the same message twice, after a broken connection, makes one message."""

from typing import Final

from moothall.kernel.context import Context
from moothall.objects.ids import ChannelId, MessageId, UserId
from moothall.objects.wire import Timestamp, encode
from moothall.resources.message.drafts import Draft
from moothall.resources.message.pages import Viewer, message_bytes
from moothall.resources.message.queries import claim_nonce, delete_nonces, keep_nonce, select_nonce

_REMEMBERED_MS: Final = 5 * 60 * 1000
_SWEEP_EVERY_MS: Final = 60 * 1000


class _Sweep:
    """When this process last threw old nonces away."""

    __slots__ = ("last",)

    def __init__(self) -> None:
        self.last = 0


async def taken_nonce(
    ctx: Context, channel_id: ChannelId, author_id: UserId, draft: Draft, message_id: MessageId
) -> bytes | None:
    """Take the nonce of a draft for the message that it will be.

    If the draft enforces it and the same author used it in the channel in the last minutes, the
    message of that time is returned as JSON, and nothing is to be sent.
    """
    nonce = str(draft.nonce)
    await _sweep(ctx)
    if not draft.enforce_nonce:
        await keep_nonce(ctx.tx, channel_id, author_id, nonce, message_id, ctx.now)
        return None
    if await claim_nonce(ctx.tx, channel_id, author_id, nonce, message_id, ctx.now):
        return None
    since = Timestamp(ctx.now - _REMEMBERED_MS)
    earlier = await select_nonce(ctx.tx, channel_id, author_id, nonce, since)
    if earlier is not None:
        shown = await message_bytes(ctx.tx, channel_id, [earlier], Viewer(author_id))
        if earlier in shown:
            return b'%b,"nonce":%b}' % (shown[earlier][:-1], encode(draft.nonce))
    await keep_nonce(ctx.tx, channel_id, author_id, nonce, message_id, ctx.now)
    return None


async def _sweep(ctx: Context) -> None:
    sweep = ctx.services.extra.get(_Sweep)
    if sweep is None:
        sweep = ctx.services.extra[_Sweep] = _Sweep()
    if ctx.now - sweep.last >= _SWEEP_EVERY_MS:
        sweep.last = ctx.now
        await delete_nonces(ctx.tx, Timestamp(ctx.now - _REMEMBERED_MS))
