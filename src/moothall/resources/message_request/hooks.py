"""Users who become friends accept each other's messages."""

from moothall.resources.channel.events import DirectChannelUpdate
from moothall.resources.message_request.operations import accept_of_friend
from moothall.resources.user.relationship.operations import FRIENDS_MADE

FRIENDS_MADE.register(accept_of_friend, fires=(DirectChannelUpdate,))
