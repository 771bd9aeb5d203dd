"""Polls and their votes."""

from moothall.objects.ids import ChannelId, MessageId, UserId
from moothall.storage.columns import flag_column, id_column, moment_column, number_column, text_column
from moothall.storage.schema.metadata import clustered

polls = clustered(
    "polls",
    id_column("channel_id", ChannelId, key=True),
    id_column("message_id", MessageId, key=True),
    text_column("body", nullable=False),  # JSON: the poll object without its expiry and its results
    number_column("answers"),  # how many there are, numbered from 1
    flag_column("multiselect"),
    moment_column("expires_at"),
    flag_column("ended"),
)

poll_counts = clustered(
    "poll_counts",
    id_column("channel_id", ChannelId, key=True),
    id_column("message_id", MessageId, key=True),
    id_column("answer_id", key=True),
    number_column("count"),
)
"""The vote count of each answer with votes."""

poll_votes = clustered(
    "poll_votes",
    id_column("channel_id", ChannelId, key=True),
    id_column("message_id", MessageId, key=True),
    id_column("answer_id", key=True),
    id_column("user_id", UserId, key=True),
)
