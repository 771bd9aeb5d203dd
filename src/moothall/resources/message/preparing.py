"""From what a caller sends to a draft: what of it takes a permission, and what its components name."""

from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.ids import ChannelId
from moothall.objects.message_types import MessageFlags
from moothall.objects.permissions import Permissions
from moothall.resources.component.resolved_ids import look_up, sender_of
from moothall.resources.message.attachment.drafting import Uploaded
from moothall.resources.message.drafts import Draft, MessageFields, read_draft
from moothall.resources.message.layouts import without_components


async def prepare_draft(
    ctx: Context, body: MessageFields, form_errors: FormErrors | None = None, *, channel_id: ChannelId | None = None
) -> Draft:
    """The draft that the caller's request makes in the channel entered; `form_errors` may hold errors seen already.

    `channel_id` is where its files will be, if that is another channel: a thread that is yet to be. Raises
    Refusal: 50013 for a part that the caller may not send, 50173; what `read_draft` raises.
    """
    if body.tts and ctx.in_guild:
        ctx.require(Permissions.SEND_TTS_MESSAGES)
    if body.embeds:
        ctx.require(Permissions.EMBED_LINKS)
    if body.poll is not None:
        ctx.require(Permissions.SEND_POLLS)
    if body.flags and body.flags & MessageFlags.IS_VOICE_MESSAGE and not ctx.has(Permissions.SEND_VOICE_MESSAGES):
        raise Refusal(errors.NO_VOICE_MESSAGES)
    if not ctx.actor.bot:
        body = without_components(body, None)
    lookup = await look_up(ctx, ctx.channel, body.components, sender_of(ctx))
    uploaded = Uploaded.of(ctx, ctx.channel.id if channel_id is None else channel_id)
    return read_draft(body, form_errors, lookup=lookup, uploaded=uploaded)
