"""What a message shows of its reactions; adding and removing them is the noun `reaction`."""

from sqlalchemy import bindparam, select

from moothall.objects.emoji import PartialEmoji
from moothall.objects.ids import ChannelId, EmojiId, Snowflake, UserId
from moothall.objects.message import Reaction, ReactionCounts
from moothall.objects.wire import encode
from moothall.storage.database import Query, Reader, in_list
from moothall.storage.schema import reaction_counts, reactions

_counts, _single = reaction_counts.c, reactions.c

_select_summaries = Query(
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


def shown_emoji(emoji_id: int | None, name: str | None, animated: object) -> PartialEmoji:
    """A stored emoji as reactions show it."""
    if emoji_id is None:
        return PartialEmoji(id=None, name=name)
    return PartialEmoji(id=EmojiId(Snowflake(emoji_id)), name=name, animated=bool(animated))


async def encoded_reactions(
    reader: Reader, channel_id: ChannelId, message_ids: list[int], user_id: UserId
) -> dict[int, bytes]:
    """The `reactions` of messages as JSON arrays, by message, as a user sees them."""
    found: dict[int, list[Reaction]] = {}
    rows = await reader.all(_select_summaries, channel_id=channel_id, message_ids=message_ids, user_id=user_id)
    for message_id, emoji_id, name, animated, count, me in rows:
        found.setdefault(message_id, []).append(
            Reaction(
                emoji=shown_emoji(emoji_id, name, animated),
                count=count,
                count_details=ReactionCounts(normal=count),
                me=me is not None,
            )
        )
    return {message_id: encode(listed) for message_id, listed in found.items()}
