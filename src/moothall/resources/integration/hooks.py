"""Integrations end with their bot's membership, and with their application."""

from moothall.resources.application.deletion import APPLICATION_LEAVING
from moothall.resources.guild.membership.operations import BOT_REMOVED, LEAVING
from moothall.resources.integration.bots import RETIRING, retire_bot
from moothall.resources.integration.operations import leave_every_guild

BOT_REMOVED.register(retire_bot, fires=RETIRING)
APPLICATION_LEAVING.register(leave_every_guild, fires=LEAVING)
