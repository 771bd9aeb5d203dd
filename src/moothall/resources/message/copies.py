"""Copies of published messages in the channels that follow: what they show, and how they keep up with the source.

Publishing is the noun `crosspost`, which none of this knows.
"""

from collections.abc import Iterable
from typing import ClassVar, Final

from msgspec import UNSET, Struct, UnsetType, structs

from moothall.kernel.channel_access import ChannelAccess, find_channel
from moothall.kernel.context import Context
from moothall.kernel.guild_state import GuildState, GuildStates
from moothall.kernel.jobs import Job, enqueue, job
from moothall.objects.channel import ChannelMention
from moothall.objects.channel_types import TEXT_LIKE
from moothall.objects.features import Feature
from moothall.objects.ids import ChannelId, MessageId, Snowflake, UserId, WebhookId
from moothall.objects.mentions import parse_mentions
from moothall.objects.message_types import MessageFlags, MessagePart
from moothall.objects.permissions import Permissions
from moothall.resources.message import queries
from moothall.resources.message.body import EMPTY, Text, decode_head, decode_text, encode_body
from moothall.resources.message.copy_queries import delete_copy, select_copy
from moothall.resources.message.files import keep_row_files
from moothall.resources.message.queries import MessageRow
from moothall.resources.message.writing import Mentioned, MessageReferences, Written, parts_around

SOURCE_DELETED: Final = "[Original Message Deleted]"
"""What a copy says whose source is gone, as clients know it."""
ANONYMOUS: Final = UserId(Snowflake(0))
UNMENTIONED: Final = MessageReferences(Mentioned([], [], everyone=False), {})
"""A copy mentions nobody: those whom its source names are elsewhere."""

_COPIED: Final = MessageFlags.SUPPRESS_EMBEDS | MessageFlags.IS_COMPONENTS_V2 | MessageFlags.HAS_SNAPSHOT
_COPIED_PARTS: Final = MessagePart.FILES


class Published(Struct, frozen=True, kw_only=True):
    """What a published message shows elsewhere."""

    text: Text
    flags: int
    parts: int
    hidden_embeds: str | None
    mention_channels: list[ChannelMention] | UnsetType


async def published_form(ctx: Context, access: ChannelAccess, row: MessageRow) -> Published:
    """What a message shows where its channel is followed, as it is now."""
    text = decode_text(row.body)
    return Published(
        text=text,
        flags=row.flags & _COPIED,
        parts=row.parts & _COPIED_PARTS,
        hidden_embeds=row.hidden_embeds,
        mention_channels=UNSET if access.guild is None else await _named_channels(ctx, access.guild, text.content),
    )


async def _named_channels(ctx: Context, state: GuildState, content: str) -> list[ChannelMention] | UnsetType:
    """The text channels that a content names and everyone may see, of a guild that is open to the public."""
    named = parse_mentions(content).channels
    if not named or not {Feature.COMMUNITY, Feature.DISCOVERABLE}.intersection(state.row.features):
        return UNSET
    known = await state.channels(ctx.tx)
    anybody = GuildStates.judge(state, ANONYMOUS, (), pending=False, until=None, now=ctx.now)
    shown = [known[channel_id] for channel_id in named if channel_id in known]
    return [
        ChannelMention(id=channel.id, guild_id=state.id, type=channel.type, name=channel.name or "")
        for channel in shown
        if channel.type in TEXT_LIKE and anybody.permissions_in(channel) & Permissions.VIEW_CHANNEL
    ] or UNSET


async def renew_copies(ctx: Context, channel_id: ChannelId, changed: Iterable[tuple[MessageId, int]]) -> None:
    """Have the copies of messages that were changed or deleted follow; `changed` are ids with flags."""
    published = [message_id for message_id, flags in changed if flags & MessageFlags.CROSSPOSTED]
    if published:
        await enqueue(ctx, RenewCopies(channel_id=channel_id, message_ids=published))


@job
class RenewCopies(Job, frozen=True, kw_only=True):
    """Brings the copies of some messages of a channel up to date, or marks them as those of deleted ones."""

    kind: ClassVar[str] = "renew_copies"
    channel_id: ChannelId
    message_ids: list[MessageId]
    after: WebhookId = WebhookId(Snowflake(0))

    async def step(self, ctx: Context) -> Job | None:
        """Renew one copy."""
        if not self.message_ids:
            return None
        source_id, *rest = self.message_ids
        # Locked, so that no copy is made from what it was before.
        source = await queries.lock_message(ctx.tx, self.channel_id, source_id)
        copy = await select_copy(ctx.tx, self.channel_id, source_id, self.after)
        if copy is None:
            return structs.replace(self, message_ids=rest, after=WebhookId(Snowflake(0))) if rest else None
        webhook_id, copy_channel_id, copy_id = copy
        access = await find_copy_channel(ctx, copy_channel_id)
        row = None if access is None else await queries.lock_message(ctx.tx, copy_channel_id, copy_id)
        origin = await find_copy_channel(ctx, self.channel_id)
        if access is not None and row is not None:
            form = None if source is None or origin is None else await published_form(ctx, origin, source)
            await _renew(ctx, access, row, form, source)
        if row is None or source is None:
            await delete_copy(ctx.tx, self.channel_id, source_id, webhook_id)
        return structs.replace(self, after=webhook_id)


async def find_copy_channel(ctx: Context, channel_id: ChannelId) -> ChannelAccess | None:
    """A channel that publishes or follows, as nobody in particular sees it; None if it is gone."""
    return await find_channel(ctx.services.states, ctx.tx, channel_id, ANONYMOUS, ctx.now, writes=True)


async def _renew(
    ctx: Context, access: ChannelAccess, row: MessageRow, form: Published | None, source: MessageRow | None
) -> None:
    head = decode_head(row.body)
    if form is None or source is None:
        text, hidden, parts = structs.replace(EMPTY, content=SOURCE_DELETED), None, row.parts & ~_COPIED_PARTS
        flags = (row.flags & ~_COPIED) | MessageFlags.SOURCE_MESSAGE_DELETED
        head = structs.replace(head, flags=flags, mention_channels=UNSET)
    else:
        text, hidden, parts = form.text, form.hidden_embeds, (row.parts & ~_COPIED_PARTS) | form.parts
        flags = (row.flags & ~_COPIED) | form.flags
        edited = decode_head(source.body).edited_timestamp
        head = structs.replace(head, flags=flags, mention_channels=form.mention_channels, edited_timestamp=edited)
    new = structs.replace(row, flags=flags, parts=parts, hidden_embeds=hidden, body=encode_body(head, text))
    await queries.update_message(ctx.tx, new)
    await keep_row_files(ctx, new, before=row, source=None if source is None else (source.channel_id, source.id))
    written = Written(
        access=access,
        row=new,
        head=head,
        text=text,
        author=None,
        cast=UNMENTIONED,
        parts=await parts_around(ctx.tx, new, None),
    )
    ctx.emit(written.updated())
