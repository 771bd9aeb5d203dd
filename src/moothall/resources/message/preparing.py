"""From what a caller sends to a draft: what of it takes a permission, and what its components name."""

from moothall.kernel.context import Context
from moothall.objects.errors import FormErrors
from moothall.objects.permissions import Permissions
from moothall.resources.component.known import look_up, sender_of
from moothall.resources.message.drafts import Draft, MessageFields, read_draft
from moothall.resources.message.layouts import without_components


async def prepare_draft(ctx: Context, body: MessageFields, found: FormErrors | None = None) -> Draft:
    """The draft that the caller's request makes in the channel entered; `found` may hold errors seen already.

    Raises Refusal: 50013 for a part that the caller may not send; what `read_draft` raises.
    """
    if body.tts and ctx.in_guild:
        ctx.require(Permissions.SEND_TTS_MESSAGES)
    if body.embeds:
        ctx.require(Permissions.EMBED_LINKS)
    if body.poll is not None:
        ctx.require(Permissions.SEND_POLLS)
    if not ctx.actor.bot:
        body = without_components(body, None)
    lookup = await look_up(ctx, ctx.channel, body.components, sender_of(ctx))
    return read_draft(body, found, lookup=lookup)
