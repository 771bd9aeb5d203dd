"""The SQL of reactions."""

from msgspec import Struct

from moothall.objects.emoji import PartialEmoji
from moothall.objects.ids import ChannelId, EmojiId, MessageId, UserId
from moothall.objects.user import User
from moothall.objects.wire import Timestamp
from moothall.resources.message.queries.reactions import partial_emoji
from moothall.storage.database import Query, Reader, Transaction, insert_ignore
from moothall.storage.rows import UserRow, user_from_row
from moothall.storage.sql import bindparam, delete, func, select, update
from moothall.storage.tables import messages, reaction_counts, reactions, users

_counts, _single = reaction_counts.c, reactions.c
_of_message = (_counts.channel_id == bindparam("channel_id")) & (_counts.message_id == bindparam("message_id"))
_of_emoji = _of_message & (_counts.emoji == bindparam("emoji"))


def emoji_key(emoji: PartialEmoji) -> str:
    """The key of an emoji in reaction tables: its id, or a standard emoji itself."""
    return str(int(emoji.id)) if emoji.id is not None else emoji.name or ""


class CountRow(Struct):
    """The reactions to a message with one emoji."""

    emoji_id: EmojiId | None
    emoji_name: str | None
    animated: bool
    count: int

    @property
    def emoji(self) -> PartialEmoji:
        """The emoji object."""
        return partial_emoji(self.emoji_id, self.emoji_name, self.animated)


_select_count = Query(
    lambda: select(_counts.emoji_id, _counts.emoji_name, _counts.animated, _counts.count).where(_of_emoji),
    into=CountRow,
)
_count_emojis = Query(lambda: select(func.count()).select_from(reaction_counts).where(_of_message))
_insert_count = Query(lambda: insert_ignore(reaction_counts, key=("channel_id", "message_id", "emoji")))
_raise_count = Query(lambda: update(reaction_counts).where(_of_emoji).values(count=_counts.count + 1))
_lower_count = Query(lambda: update(reaction_counts).where(_of_emoji).values(count=_counts.count - 1))
_delete_count = Query(lambda: delete(reaction_counts).where(_of_emoji))
_delete_empty_count = Query(lambda: delete(reaction_counts).where(_of_emoji, _counts.count <= 0))
_delete_counts = Query(lambda: delete(reaction_counts).where(_of_message))
_insert_reaction = Query(lambda: insert_ignore(reactions, key=("channel_id", "message_id", "emoji", "user_id")))

_single_of_message = (_single.channel_id == bindparam("channel_id")) & (_single.message_id == bindparam("message_id"))
_single_of_emoji = _single_of_message & (_single.emoji == bindparam("emoji"))
_delete_reaction = Query(lambda: delete(reactions).where(_single_of_emoji, _single.user_id == bindparam("user_id")))
_delete_reactions_of_emoji = Query(lambda: delete(reactions).where(_single_of_emoji))
_delete_reactions = Query(lambda: delete(reactions).where(_single_of_message))
# `reacted` is never cleared: a removal cannot see reactions that are added at the same time.
_mark_reacted = Query(
    lambda: (
        update(messages)
        .where(
            messages.c.channel_id == bindparam("channel_id"),
            messages.c.id == bindparam("message_id"),
            messages.c.reacted.is_(False),
        )
        .values(reacted=True)
    )
)
_select_reactors = Query(
    lambda: (
        select(users)
        .select_from(reactions.join(users, users.c.id == _single.user_id))
        .where(_single_of_emoji, _single.user_id > bindparam("after"))
        .order_by(_single.user_id)
        .limit(bindparam("maximum"))
    ),
    into=UserRow,
)


async def select_count(reader: Reader, channel_id: ChannelId, message_id: MessageId, emoji: str) -> CountRow | None:
    """The reactions to a message with one emoji; None if there are none."""
    return await reader.one(_select_count, channel_id=channel_id, message_id=message_id, emoji=emoji)


async def count_emojis(reader: Reader, channel_id: ChannelId, message_id: MessageId) -> int:
    """The number of different emojis of a message."""
    return await reader.scalar(_count_emojis, channel_id=channel_id, message_id=message_id) or 0


async def insert_emoji(
    tx: Transaction, channel_id: ChannelId, message_id: MessageId, emoji: PartialEmoji, now: Timestamp
) -> None:
    """Insert an emoji that a message does not have yet, with a count of 0."""
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
    """Insert a user's reaction; False if it exists."""
    key = {"channel_id": channel_id, "message_id": message_id, "emoji": emoji_key(emoji)}
    if not await tx.execute(_insert_reaction, **key, user_id=user_id, reacted_at=now):
        return False
    if not await tx.execute(_raise_count, **key):
        # The last reaction with the emoji was removed at the same time, and the emoji with it.
        await insert_emoji(tx, channel_id, message_id, emoji, now)
        await tx.execute(_raise_count, **key)
    return True


async def delete_reaction(
    tx: Transaction, channel_id: ChannelId, message_id: MessageId, emoji: str, user_id: UserId
) -> bool:
    """Delete a user's reaction, and the emoji with its last reaction; False if there is none."""
    key = {"channel_id": channel_id, "message_id": message_id, "emoji": emoji}
    if not await tx.execute(_delete_reaction, **key, user_id=user_id):
        return False
    await tx.execute(_lower_count, **key)
    await tx.execute(_delete_empty_count, **key)
    return True


async def delete_emoji(tx: Transaction, channel_id: ChannelId, message_id: MessageId, emoji: str) -> bool:
    """Delete all reactions with an emoji; False if there are none."""
    key = {"channel_id": channel_id, "message_id": message_id, "emoji": emoji}
    if not await tx.execute(_delete_count, **key):
        return False
    await tx.execute(_delete_reactions_of_emoji, **key)
    return True


async def delete_all(tx: Transaction, channel_id: ChannelId, message_id: MessageId) -> bool:
    """Delete all reactions of a message; False if there are none."""
    if not await tx.execute(_delete_counts, channel_id=channel_id, message_id=message_id):
        return False
    await tx.execute(_delete_reactions, channel_id=channel_id, message_id=message_id)
    return True


async def select_reactors(
    reader: Reader, channel_id: ChannelId, message_id: MessageId, emoji: str, *, after: int, maximum: int
) -> list[User]:
    """The users who reacted with an emoji, by ascending id."""
    rows = await reader.all(
        _select_reactors, channel_id=channel_id, message_id=message_id, emoji=emoji, after=after, maximum=maximum
    )
    return [user_from_row(row) for row in rows]
