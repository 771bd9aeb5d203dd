"""The SQL of messages. The queries of `messages`, which other rooms use, can be imported from here."""

from moothall.resources.message.queries.messages import (
    MESSAGES_TABLE,
    SHOWN_COLUMNS,
    MessageRow,
    ShownRow,
    insert_message,
    lock_message,
    lock_message_shared,
    select_first,
    select_message,
    select_page,
    select_shown,
    update_message,
)

__all__ = [
    "MESSAGES_TABLE",
    "SHOWN_COLUMNS",
    "MessageRow",
    "ShownRow",
    "insert_message",
    "lock_message",
    "lock_message_shared",
    "select_first",
    "select_message",
    "select_page",
    "select_shown",
    "update_message",
]
