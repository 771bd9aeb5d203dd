"""An integration is deleted when its bot leaves the guild, and when its application is deleted."""

from moothall.resources.application.operations import APPLICATION_LEAVING
from moothall.resources.guild.membership.operations import BOT_REMOVED, LEAVE_EVENTS
from moothall.resources.integration.operations import (
    BOT_REMOVED_EVENTS,
    remove_bot_from_guilds,
    remove_integrations_of_bot,
)

BOT_REMOVED.register(remove_integrations_of_bot, fires=BOT_REMOVED_EVENTS)
APPLICATION_LEAVING.register(remove_bot_from_guilds, fires=LEAVE_EVENTS)
