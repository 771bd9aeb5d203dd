"""The SQL of polls."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from moothall.objects.ids import ChannelId, EmojiId, MessageId, UserId
from moothall.objects.poll import DEFAULT_LAYOUT, PollAnswer, PollMedia
from moothall.objects.user import User
from moothall.objects.wire import Timestamp, decoder
from moothall.storage.database import Query, Reader, Transaction, in_list, upsert
from moothall.storage.rows import EmojiRow, UserRow, user_from_row
from moothall.storage.sql import SnowflakeColumn, bindparam, delete, insert, select, true, update
from moothall.storage.tables import emojis, members, poll_counts, poll_votes, polls, users

_counts, _votes = poll_counts.c, poll_votes.c
_this = (polls.c.channel_id == bindparam("channel_id")) & (polls.c.message_id == bindparam("message_id"))
_counts_here = (_counts.channel_id == bindparam("channel_id")) & (_counts.message_id == bindparam("message_id"))
_votes_here = (_votes.channel_id == bindparam("channel_id")) & (_votes.message_id == bindparam("message_id"))


class PollRow(Struct):
    """A row of `polls`."""

    channel_id: ChannelId
    message_id: MessageId
    body: str
    answers: int
    multiselect: bool
    expires_at: Timestamp
    ended: bool


class PollBody(Struct, frozen=True, kw_only=True):
    """The `body` of a poll as JSON: its object without expiry and results."""

    question: PollMedia
    answers: list[PollAnswer]
    allow_multiselect: bool
    layout_type: int = DEFAULT_LAYOUT


_bodies = decoder(PollBody)


def decode_poll_body(row: PollRow) -> PollBody:
    """The body of a stored poll."""
    body: PollBody = _bodies.decode(row.body)
    return body


_insert_poll = Query(lambda: insert(polls))
_lock_poll = Query(lambda: select(polls).where(_this).with_for_update(), into=PollRow)
_end_poll = Query(lambda: update(polls).where(_this).values(ended=true(), expires_at=bindparam("moment")))
_select_counts = Query(
    lambda: (
        select(_counts.answer_id, _counts.count).where(_counts_here).order_by(_counts.count.desc(), _counts.answer_id)
    )
)
_select_choice = Query(
    lambda: select(_votes.answer_id).where(
        _votes_here, in_list(_votes.answer_id, "answer_ids"), _votes.user_id == bindparam("user_id")
    )
)
_insert_vote = Query(lambda: insert(poll_votes))
_delete_votes = Query(
    lambda: delete(poll_votes).where(
        _votes_here, in_list(_votes.answer_id, "answer_ids"), _votes.user_id == bindparam("user_id")
    )
)
_raise_count = Query(
    lambda: upsert(poll_counts, key=("channel_id", "message_id", "answer_id"), update={"count": _counts.count + 1})
)
_lower_counts = Query(
    lambda: (
        update(poll_counts)
        .where(_counts_here, in_list(_counts.answer_id, "answer_ids"))
        .values(count=_counts.count - 1)
    )
)
_delete_empty_counts = Query(lambda: delete(poll_counts).where(_counts_here, _counts.count <= 0))
_select_voters = Query(
    lambda: (
        select(users)
        .select_from(poll_votes.join(users, users.c.id == _votes.user_id))
        .where(_votes_here, _votes.answer_id == bindparam("answer_id"), _votes.user_id > bindparam("after"))
        .order_by(_votes.user_id)
        .limit(bindparam("maximum"))
    ),
    into=UserRow,
)
_select_shown = Query(
    lambda: (
        select(
            polls.c.message_id,
            polls.c.body,
            polls.c.expires_at,
            polls.c.ended,
            _counts.answer_id,
            _counts.count,
            _votes.user_id,
        )
        .select_from(
            polls.outerjoin(
                poll_counts, (_counts.channel_id == polls.c.channel_id) & (_counts.message_id == polls.c.message_id)
            ).outerjoin(
                poll_votes,
                (_votes.channel_id == _counts.channel_id)
                & (_votes.message_id == _counts.message_id)
                & (_votes.answer_id == _counts.answer_id)
                & (_votes.user_id == bindparam("user_id", type_=SnowflakeColumn(UserId))),
            )
        )
        .where(polls.c.channel_id == bindparam("channel_id"), in_list(polls.c.message_id, "message_ids"))
        .order_by(polls.c.message_id, _counts.answer_id)
    )
)


class EmojiOfMember(EmojiRow):
    """A guild's emoji with the roles that a user has in the guild; None for a user who is no member."""

    member_roles: list[int] | None


_select_emojis = Query(
    lambda: (
        select(emojis, members.c.roles.label("member_roles"))
        .select_from(
            emojis.outerjoin(
                members, (members.c.guild_id == emojis.c.guild_id) & (members.c.user_id == bindparam("user_id"))
            )
        )
        .where(in_list(emojis.c.id, "emoji_ids"))
    ),
    into=EmojiOfMember,
)

ShownPoll = tuple[int, str, int, int, int | None, int | None, int | None]
"""message_id, body, expires_at, ended; of an answer with votes its id, its count, and the viewer's id if they voted."""


async def insert_poll(tx: Transaction, row: PollRow) -> None:
    """Store a new poll."""
    await tx.execute(_insert_poll, **{name: getattr(row, name) for name in PollRow.__struct_fields__})


async def lock_poll(tx: Transaction, channel_id: ChannelId, message_id: MessageId) -> PollRow | None:
    """The poll of a message, locked until the transaction ends; None if it has none."""
    return await tx.one(_lock_poll, channel_id=channel_id, message_id=message_id)


async def end_poll(tx: Transaction, channel_id: ChannelId, message_id: MessageId, moment: Timestamp) -> None:
    """Update a poll that ended at a moment."""
    await tx.execute(_end_poll, channel_id=channel_id, message_id=message_id, moment=moment)


async def select_counts(reader: Reader, channel_id: ChannelId, message_id: MessageId) -> list[tuple[int, int]]:
    """(answer, votes) of the answers with votes, by descending votes."""
    return await reader.all(_select_counts, channel_id=channel_id, message_id=message_id)


async def select_choice(
    reader: Reader, channel_id: ChannelId, message_id: MessageId, user_id: UserId, among: Iterable[int]
) -> set[int]:
    """The answers, among all of a poll, that a user voted for."""
    rows = await reader.all(
        _select_choice, channel_id=channel_id, message_id=message_id, user_id=user_id, answer_ids=list(among)
    )
    return {int(row[0]) for row in rows}


async def insert_votes(
    tx: Transaction, channel_id: ChannelId, message_id: MessageId, user_id: UserId, answers: Sequence[int]
) -> None:
    """Insert a user's votes for answers that they did not vote for."""
    key = {"channel_id": channel_id, "message_id": message_id}
    await tx.execute_many(_insert_vote, [{**key, "answer_id": answer, "user_id": user_id} for answer in answers])
    await tx.execute_many(_raise_count, [{**key, "answer_id": answer, "count": 1} for answer in answers])


async def delete_votes(
    tx: Transaction, channel_id: ChannelId, message_id: MessageId, user_id: UserId, answers: Sequence[int]
) -> None:
    """Delete a user's votes for answers that they voted for."""
    key = {"channel_id": channel_id, "message_id": message_id}
    await tx.execute(_delete_votes, **key, answer_ids=list(answers), user_id=user_id)
    await tx.execute(_lower_counts, **key, answer_ids=list(answers))
    await tx.execute(_delete_empty_counts, **key)


async def select_voters(
    reader: Reader, channel_id: ChannelId, message_id: MessageId, answer_id: int, *, after: UserId, maximum: int
) -> list[User]:
    """The users who voted for an answer, by ascending id."""
    rows = await reader.all(
        _select_voters, channel_id=channel_id, message_id=message_id, answer_id=answer_id, after=after, maximum=maximum
    )
    return [user_from_row(row) for row in rows]


async def select_shown(
    reader: Reader, channel_id: ChannelId, message_ids: Sequence[int], user_id: UserId
) -> list[ShownPoll]:
    """The polls of messages with their counts and the votes of a viewer, by message and answer."""
    return await reader.all(_select_shown, channel_id=channel_id, message_ids=list(message_ids), user_id=user_id)


async def select_emojis(reader: Reader, emoji_ids: list[EmojiId], user_id: UserId) -> dict[EmojiId, EmojiOfMember]:
    """Emojis of guilds by id, with the roles of a user in those guilds."""
    rows = await reader.all(_select_emojis, emoji_ids=emoji_ids, user_id=user_id)
    return {row.id: row for row in rows}
