"""A deleted channel is removed from the settings of its guild."""

from moothall.resources.channel.operations import CHANNEL_DELETED
from moothall.resources.guild.events import GuildUpdate
from moothall.resources.guild.operations import clear_deleted_channel

CHANNEL_DELETED.register(clear_deleted_channel, fires=(GuildUpdate,))
