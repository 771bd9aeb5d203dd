"""Job: copy a published message into each follower."""

from typing import ClassVar

from msgspec import UNSET, Raw, structs

from moothall.api.context import Context
from moothall.api.jobs import Job, job
from moothall.authority.channel_access import ChannelAccess
from moothall.objects.ids import ChannelId, MessageId, Snowflake, WebhookId
from moothall.objects.message import MessageReference
from moothall.objects.message_types import MessageFlags, MessageType
from moothall.resources.crosspost import queries
from moothall.resources.message.authors import WebhookAuthor, author_id_of
from moothall.resources.message.body import Head
from moothall.resources.message.building import NewMessage
from moothall.resources.message.operations import store_message
from moothall.resources.message.operations.copies import find_copy_channel, published_message
from moothall.resources.message.queries import MessageRow, lock_message
from moothall.resources.message.references import NO_REFERENCES
from moothall.resources.message.rules import sent_at
from moothall.resources.webhook.queries import WebhookRow


@job
class DeliverCrosspost(Job, frozen=True, kw_only=True):
    """Copies a message into every channel that follows its own."""

    kind: ClassVar[str] = "deliver_crosspost"
    channel_id: ChannelId
    message_id: MessageId
    after: WebhookId = WebhookId(Snowflake(0))

    async def step(self, ctx: Context) -> Job | None:
        """Write one copy. A message that was deleted since is not copied further."""
        # Locked, so that concurrent edits and deletions apply to this copy.
        source = await lock_message(ctx.tx, self.channel_id, self.message_id)
        follower = await queries.select_next_follower(ctx.tx, self.channel_id, self.after)
        origin = await find_copy_channel(ctx, self.channel_id)
        if source is None or follower is None or origin is None:
            return None
        access = None if follower.channel_id is None else await find_copy_channel(ctx, follower.channel_id)
        if access is not None:
            await _copy(ctx, origin, source, access, follower)
        return structs.replace(self, after=follower.id)


async def _copy(
    ctx: Context, origin: ChannelAccess, source: MessageRow, access: ChannelAccess, follower: WebhookRow
) -> None:
    form = await published_message(ctx, origin, source)
    webhook_author = WebhookAuthor(webhook_id=follower.id, name=follower.name or "", avatar=follower.avatar)
    copy_id = MessageId(ctx.ids.next())
    head = Head(
        author=Raw(webhook_author.encoded()),
        id=copy_id,
        channel_id=access.id,
        type=MessageType.DEFAULT,
        timestamp=sent_at(copy_id),
        flags=form.flags | MessageFlags.IS_CROSSPOST,
        mention_channels=form.mention_channels,
        webhook_id=follower.id,
        message_reference=MessageReference(
            message_id=source.id,
            channel_id=origin.id,
            guild_id=UNSET if origin.guild is None else origin.guild.id,
        ),
    )
    copy = NewMessage(
        author_id=author_id_of(webhook_author),
        head=head,
        text=form.text,
        references=NO_REFERENCES,
        hidden_embeds=form.hidden_embeds,
        parts=form.parts,
        source=(source.channel_id, source.id),
    )
    await store_message(ctx, access, copy)
    await queries.insert_copy(
        ctx.tx, origin.id, source.id, webhook_id=follower.id, copy_channel_id=access.id, copy_id=copy_id
    )
