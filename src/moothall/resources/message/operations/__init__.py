"""Message operations, which other rooms call as well: create, edit, announce and delete messages.

Nothing else stores, changes or deletes a message.
"""

from moothall.resources.message.operations.announce import announce_message
from moothall.resources.message.operations.create import (
    create_message,
    send_message,
    send_system_message,
    store_message,
)
from moothall.resources.message.operations.delete import (
    bulk_delete_messages,
    delete_message,
    forget_messages,
    forget_messages_of,
    remove_message,
)
from moothall.resources.message.operations.edit import apply_edit, edit_message
from moothall.resources.message.operations.lookup import get_message, lock_message, lock_message_shared

__all__ = [
    "announce_message",
    "apply_edit",
    "bulk_delete_messages",
    "create_message",
    "delete_message",
    "edit_message",
    "forget_messages",
    "forget_messages_of",
    "get_message",
    "lock_message",
    "lock_message_shared",
    "remove_message",
    "send_message",
    "send_system_message",
    "store_message",
]
