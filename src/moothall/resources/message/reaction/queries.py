"""The SQL of reactions."""

from msgspec import Struct
from sqlalchemy import bindparam, delete, func, select, update

from moothall.objects.emoji import PartialEmoji
from moothall.objects.ids import ChannelId, EmojiId, MessageId, UserId
from moothall.objects.user import User
from moothall.objects.wire import Timestamp
from moothall.resources.message.reactions import shown_emoji
from moothall.storage.database import Query, Reader, Transaction, insert_ignore
from moothall.storage.rows import UserRow, user_from_row
from moothall.storage.schema import messages, reaction_counts, reactions, users

_counts, _single = reaction_counts.c, reactions.c
_of_message = (_counts.channel_id == bindparam("channel_id")) & (_counts.message_id == bindparam("message_id"))
_of_emoji = _of_message & (_counts.emoji == bindparam("emoji"))


def emoji_key(emoji: PartialEmoji) -> str:
    """What an emoji is known by among a message's reactions: its id, or the standard emoji itself."""
    return str(int(emoji.id)) if emoji.id is not None else emoji.name or ""


class CountRow(Struct):
    """One emoji under a message."""

    emoji_id: EmojiId | None
    emoji_name: str | None
    animated: bool
    count: int

    @property
    def emoji(self) -> PartialEmoji:
        """The emoji as it is shown."""
        return shown_emoji(self.emoji_id, self.emoji_name, self.animated)


_select_count = Query(
    select(_counts.emoji_id, _counts.emoji_name, _counts.animated, _counts.count).where(_of_emoji), into=CountRow
)
_count_kinds = Query(select(func.count()).select_from(reaction_counts).where(_of_message))
_insert_count = Query(insert_ignore(reaction_counts, key=("channel_id", "message_id", "emoji")))
_raise_count = Query(update(reaction_counts).where(_of_emoji).values(count=_counts.count + 1))
_lower_count = Query(update(reaction_counts).where(_of_emoji).values(count=_counts.count - 1))
_delete_count = Query(delete(reaction_counts).where(_of_emoji))
_delete_empty_count = Query(delete(reaction_counts).where(_of_emoji, _counts.count <= 0))
_delete_counts = Query(delete(reaction_counts).where(_of_message))
_insert_reaction = Query(insert_ignore(reactions, key=("channel_id", "message_id", "emoji", "user_id")))

_single_of_message = (_single.channel_id == bindparam("channel_id")) & (_single.message_id == bindparam("message_id"))
_single_of_emoji = _single_of_message & (_single.emoji == bindparam("emoji"))
_delete_reaction = Query(delete(reactions).where(_single_of_emoji, _single.user_id == bindparam("user_id")))
_delete_reactions_of_emoji = Query(delete(reactions).where(_single_of_emoji))
_delete_reactions = Query(delete(reactions).where(_single_of_message))
# Nothing ever takes the mark away: a removal cannot know of reactions that are being added at the same moment.
_mark_reacted = Query(
    update(messages)
    .where(
        messages.c.channel_id == bindparam("channel_id"),
        messages.c.id == bindparam("message_id"),
        messages.c.reacted.is_(False),
    )
    .values(reacted=True)
)
_select_reactors = Query(
    select(users)
    .select_from(reactions.join(users, users.c.id == _single.user_id))
    .where(_single_of_emoji, _single.user_id > bindparam("after"))
    .order_by(_single.user_id)
    .limit(bindparam("maximum")),
    into=UserRow,
)


async def select_count(reader: Reader, channel_id: ChannelId, message_id: MessageId, emoji: str) -> CountRow | None:
    """One emoji under a message; None if nobody reacted with it."""
    return await reader.one(_select_count, channel_id=channel_id, message_id=message_id, emoji=emoji)


async def count_kinds(reader: Reader, channel_id: ChannelId, message_id: MessageId) -> int:
    """How many different emojis are under a message."""
    return await reader.scalar(_count_kinds, channel_id=channel_id, message_id=message_id) or 0


async def insert_kind(
    tx: Transaction, channel_id: ChannelId, message_id: MessageId, emoji: PartialEmoji, now: Timestamp
) -> None:
    """Put an emoji under a message that nobody has reacted with yet."""
    await tx.execute(
        _insert_count,
        channel_id=channel_id,
        message_id=message_id,
        emoji=emoji_key(emoji),
        emoji_id=emoji.id,
        emoji_name=emoji.name,
        animated=bool(emoji.animated),
        first_at=now,
    )
    await tx.execute(_mark_reacted, channel_id=channel_id, message_id=message_id)


async def insert_reaction(
    tx: Transaction, channel_id: ChannelId, message_id: MessageId, emoji: PartialEmoji, user_id: UserId, now: Timestamp
) -> bool:
    """Add a user to an emoji under a message; False if they are there."""
    access = {"channel_id": channel_id, "message_id": message_id, "emoji": emoji_key(emoji)}
    if not await tx.execute(_insert_reaction, **access, user_id=user_id, reacted_at=now):
        return False
    if not await tx.execute(_raise_count, **access):
        # Its last user has just taken it away, and it with them.
        await insert_kind(tx, channel_id, message_id, emoji, now)
        await tx.execute(_raise_count, **access)
    return True


async def delete_reaction(
    tx: Transaction, channel_id: ChannelId, message_id: MessageId, emoji: str, user_id: UserId
) -> bool:
    """Take a user from an emoji, and the emoji from the message with its last user; False if they were not there."""
    access = {"channel_id": channel_id, "message_id": message_id, "emoji": emoji}
    if not await tx.execute(_delete_reaction, **access, user_id=user_id):
        return False
    await tx.execute(_lower_count, **access)
    await tx.execute(_delete_empty_count, **access)
    return True


async def delete_emoji(tx: Transaction, channel_id: ChannelId, message_id: MessageId, emoji: str) -> bool:
    """Take an emoji from a message with everybody who reacted with it; False if nobody did."""
    access = {"channel_id": channel_id, "message_id": message_id, "emoji": emoji}
    if not await tx.execute(_delete_count, **access):
        return False
    await tx.execute(_delete_reactions_of_emoji, **access)
    return True


async def delete_all(tx: Transaction, channel_id: ChannelId, message_id: MessageId) -> bool:
    """Take every emoji from a message; False if there was none."""
    if not await tx.execute(_delete_counts, channel_id=channel_id, message_id=message_id):
        return False
    await tx.execute(_delete_reactions, channel_id=channel_id, message_id=message_id)
    return True


async def select_reactors(
    reader: Reader, channel_id: ChannelId, message_id: MessageId, emoji: str, *, after: int, maximum: int
) -> list[User]:
    """Those who reacted with an emoji, by ascending id."""
    rows = await reader.all(
        _select_reactors, channel_id=channel_id, message_id=message_id, emoji=emoji, after=after, maximum=maximum
    )
    return [user_from_row(row) for row in rows]
