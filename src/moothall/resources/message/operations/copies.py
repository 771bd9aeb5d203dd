"""Copies of published messages in the channels that follow: what they show, and updating them after the source.

Publishing is `crosspost`, which uses this.
"""

from collections.abc import Iterable
from typing import ClassVar, Final

from msgspec import UNSET, Struct, UnsetType, structs

from moothall.api.context import Context
from moothall.api.jobs import Job, enqueue, job
from moothall.authority.channel_access import ChannelAccess, find_channel
from moothall.authority.guild_state import GuildState
from moothall.authority.member_authority import build_authority
from moothall.objects.channel import ChannelMention
from moothall.objects.channel_types import TEXT_LIKE
from moothall.objects.features import Feature
from moothall.objects.ids import ChannelId, MessageId, Snowflake, UserId, WebhookId
from moothall.objects.mentions import parse_mentions
from moothall.objects.message_types import MessageFlags, MessagePart
from moothall.objects.permissions import Permissions
from moothall.resources.message import queries
from moothall.resources.message.body import EMPTY, Head, Text, decode_head, decode_text, encode_body
from moothall.resources.message.operations.files import store_files
from moothall.resources.message.queries import MessageRow
from moothall.resources.message.queries.copies import delete_copy, select_copy
from moothall.resources.message.references import NO_REFERENCES
from moothall.resources.message.stored_message import StoredMessage, fragments_around

SOURCE_DELETED: Final = "[Original Message Deleted]"
"""The content of a copy whose source is deleted, as clients know it."""
ANONYMOUS: Final = UserId(Snowflake(0))

_COPIED: Final = MessageFlags.SUPPRESS_EMBEDS | MessageFlags.IS_COMPONENTS_V2 | MessageFlags.HAS_SNAPSHOT
_COPIED_PARTS: Final = MessagePart.FILES


class PublishedMessage(Struct, frozen=True, kw_only=True):
    """What the copies of a published message show."""

    text: Text
    flags: int
    parts: int
    hidden_embeds: str | None
    mention_channels: list[ChannelMention] | UnsetType


async def published_message(ctx: Context, access: ChannelAccess, row: MessageRow) -> PublishedMessage:
    """What the copies of a message show, as it is now."""
    text = decode_text(row.body)
    return PublishedMessage(
        text=text,
        flags=row.flags & _COPIED,
        parts=row.parts & _COPIED_PARTS,
        hidden_embeds=row.hidden_embeds,
        mention_channels=UNSET if access.guild is None else await _mention_channels(ctx, access.guild, text.content),
    )


async def _mention_channels(ctx: Context, state: GuildState, content: str) -> list[ChannelMention] | UnsetType:
    """The text channels that content mentions and @everyone may view, of a guild that is open to the public."""
    named = parse_mentions(content).channels
    if not named or not {Feature.COMMUNITY, Feature.DISCOVERABLE}.intersection(state.row.features):
        return UNSET
    known = await state.channels(ctx.tx)
    everyone = build_authority(state, ANONYMOUS, (), pending=False, until=None, flags=0, now=ctx.now)
    channels = [known[channel_id] for channel_id in named if channel_id in known]
    return [
        ChannelMention(id=channel.id, guild_id=state.id, type=channel.type, name=channel.name or "")
        for channel in channels
        if channel.type in TEXT_LIKE and everyone.permissions_in(channel) & Permissions.VIEW_CHANNEL
    ] or UNSET


async def renew_copies(ctx: Context, channel_id: ChannelId, changed: Iterable[tuple[MessageId, int]]) -> None:
    """Enqueue the update of the copies of messages that were changed or deleted; `changed` are ids with flags."""
    published = [message_id for message_id, flags in changed if flags & MessageFlags.CROSSPOSTED]
    if published:
        await enqueue(ctx, RenewCopies(channel_id=channel_id, message_ids=published))


@job
class RenewCopies(Job, frozen=True, kw_only=True):
    """Updates the copies of messages of a channel, or marks them as copies of deleted messages."""

    kind: ClassVar[str] = "renew_copies"
    channel_id: ChannelId
    message_ids: list[MessageId]
    after: WebhookId = WebhookId(Snowflake(0))

    async def step(self, ctx: Context) -> Job | None:
        """Update one copy."""
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
            published = None
            if source is not None and origin is not None:
                published = await published_message(ctx, origin, source)
            await _renew(ctx, access, row, published, source)
        if row is None or source is None:
            await delete_copy(ctx.tx, self.channel_id, source_id, webhook_id)
        return structs.replace(self, after=webhook_id)


async def find_copy_channel(ctx: Context, channel_id: ChannelId) -> ChannelAccess | None:
    """A channel that publishes or follows, without permissions of any user; None if it is deleted."""
    return await find_channel(ctx.services.states, ctx.tx, channel_id, ANONYMOUS, ctx.now, writes=True)


async def _renew(
    ctx: Context,
    access: ChannelAccess,
    row: MessageRow,
    published: PublishedMessage | None,
    source: MessageRow | None,
) -> None:
    """Store and announce a copy as its source is now; without `published` the source is deleted."""
    if published is None or source is None:
        new, head, text = _without_source(row)
    else:
        new, head, text = _copied(row, published, source)
    await queries.update_message(ctx.tx, new)
    await store_files(ctx, new, before=row, source=None if source is None else (source.channel_id, source.id))
    fragments = await fragments_around(ctx.tx, new, None)
    stored = StoredMessage(access=access, row=new, head=head, text=text, references=NO_REFERENCES, fragments=fragments)
    ctx.emit(stored.updated())


def _without_source(row: MessageRow) -> tuple[MessageRow, Head, Text]:
    """A copy whose source is deleted."""
    flags = (row.flags & ~_COPIED) | MessageFlags.SOURCE_MESSAGE_DELETED
    head = structs.replace(decode_head(row.body), flags=flags, mention_channels=UNSET)
    text = structs.replace(EMPTY, content=SOURCE_DELETED)
    parts, body = row.parts & ~_COPIED_PARTS, encode_body(head, text)
    return structs.replace(row, flags=flags, parts=parts, hidden_embeds=None, body=body), head, text


def _copied(row: MessageRow, published: PublishedMessage, source: MessageRow) -> tuple[MessageRow, Head, Text]:
    """A copy with the content of its source."""
    flags, parts = (row.flags & ~_COPIED) | published.flags, (row.parts & ~_COPIED_PARTS) | published.parts
    edited = decode_head(source.body).edited_timestamp
    head = structs.replace(
        decode_head(row.body), flags=flags, mention_channels=published.mention_channels, edited_timestamp=edited
    )
    body = encode_body(head, published.text)
    new = structs.replace(row, flags=flags, parts=parts, hidden_embeds=published.hidden_embeds, body=body)
    return new, head, published.text
