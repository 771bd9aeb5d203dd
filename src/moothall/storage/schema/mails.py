"""Mails: those that wait to be sent, and the log of those that were."""

from moothall.objects.ids import Snowflake, UserId
from moothall.storage.columns import (
    bytes_column,
    id_column,
    key_column,
    moment_column,
    number_column,
    text_column,
)
from moothall.storage.schema.metadata import index, table

mails = table(
    "mails",
    id_column("id", Snowflake, key=True),
    text_column("kind", nullable=False),
    id_column("user_id", UserId, nullable=True),  # whose account it is about
    text_column("address", nullable=False),
    key_column("address_key"),
    key_column("network", nullable=True),  # of the request that caused it
    text_column("language", nullable=False),
    moment_column("created_at"),
    moment_column("expires_at", nullable=True),  # when sending it becomes pointless
    number_column("state"),  # 0 waits, 1 sent, 2 failed
    number_column("attempts"),
    moment_column("next_attempt_at", nullable=True),  # NULL unless it waits
    moment_column("sent_at", nullable=True),
    text_column("last_error"),
    bytes_column("sealed", nullable=True),  # what its text says, encrypted with the server's key; NULL unless it waits
    id_column("claim_id", Snowflake, nullable=True),  # of the process that makes the attempt
    index("next_attempt_at"),
    index("created_at"),
    index("address_key"),
    index("user_id"),
    index("network"),
    index("claim_id"),
)
