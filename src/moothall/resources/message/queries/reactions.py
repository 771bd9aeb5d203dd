"""The SQL of the reactions that messages show. Adding and removing reactions is in `reaction/`."""

from moothall.objects.emoji import PartialEmoji
from moothall.objects.ids import ChannelId, EmojiId, Snowflake, UserId
from moothall.objects.message import Reaction, ReactionCounts
from moothall.storage.database import Query, Reader, in_list
from moothall.storage.sql import bindparam, select
from moothall.storage.tables import reaction_counts, reactions

_counts, _single = reaction_counts.c, reactions.c

_select_summaries = Query(
    lambda: (
        select(
            _counts.message_id,
            _counts.emoji_id,
            _counts.emoji_name,
            _counts.animated,
            _counts.count,
            _single.user_id,
        )
        .select_from(
            reaction_counts.outerjoin(
                reactions,
                (_single.channel_id == _counts.channel_id)
                & (_single.message_id == _counts.message_id)
                & (_single.emoji == _counts.emoji)
                & (_single.user_id == bindparam("user_id")),
            )
        )
        .where(_counts.channel_id == bindparam("channel_id"), in_list(_counts.message_id, "message_ids"))
        .order_by(_counts.message_id, _counts.first_at, _counts.emoji)
    )
)


def partial_emoji(emoji_id: int | None, name: str | None, animated: object) -> PartialEmoji:
    """The emoji of a reaction from its columns."""
    if emoji_id is None:
        return PartialEmoji(id=None, name=name)
    return PartialEmoji(id=EmojiId(Snowflake(emoji_id)), name=name, animated=bool(animated))


async def select_reactions(
    reader: Reader, channel_id: ChannelId, message_ids: list[int], user_id: UserId
) -> list[tuple[int, Reaction]]:
    """The reactions to messages with their counts, and whether a user is among them (`me`), by message."""
    rows = await reader.all(_select_summaries, channel_id=channel_id, message_ids=message_ids, user_id=user_id)
    return [
        (
            message_id,
            Reaction(
                emoji=partial_emoji(emoji_id, name, animated),
                count=count,
                count_details=ReactionCounts(normal=count),
                me=me is not None,
            ),
        )
        for message_id, emoji_id, name, animated, count, me in rows
    ]
