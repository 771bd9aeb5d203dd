"""A guild forgets a channel that is deleted."""

from moothall.resources.channel.operations import CHANNEL_DELETED
from moothall.resources.guild.events import GuildUpdate
from moothall.resources.guild.operations import forget_channel

CHANNEL_DELETED.register(forget_channel, fires=(GuildUpdate,))
