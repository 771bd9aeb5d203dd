"""Operations on guild channels and direct messages, and the hooks that they call."""

from typing import Final

from moothall.api.context import Context
from moothall.api.hooks import Hook
from moothall.objects.channel import Channel
from moothall.objects.ids import ChannelId
from moothall.resources.channel.requests import ModifyChannel

CHANNEL_CHANGED: Final = Hook[[Context, Channel, Channel], None]("channel changed")
"""Called after a guild channel was modified, with the channel before and after."""
CHANNEL_DELETING: Final = Hook[[Context, Channel], None]("channel deleting")
"""Called before a guild channel is deleted, so that events still reach its viewers."""
CHANNEL_DELETED: Final = Hook[[Context, Channel], None]("channel deleted")
"""Called after a guild channel was deleted."""
CHANNEL_PURGED: Final = Hook[[Context, ChannelId], None]("channel purged")
"""Called by the job that removes the messages of a deleted channel, once they are removed."""
OTHER_CHANNEL_CHANGING: Final = Hook[[Context, ModifyChannel], Channel | None]("other channel changing")
"""Called first by Modify Channel: handlers modify a thread or group direct message, else return None."""
OTHER_CHANNEL_DELETING: Final = Hook[[Context], Channel | None]("other channel deleting")
"""Called first by Delete Channel: handlers delete a thread or leave a group direct message, else return None."""
