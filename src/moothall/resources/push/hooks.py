"""Messages notify those whom they are for."""

from moothall.resources.message.operations.create import MESSAGE_STORED
from moothall.resources.push.operations import notify_of_message

MESSAGE_STORED.register(notify_of_message)
