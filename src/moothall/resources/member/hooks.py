"""A changed user profile is announced in the user's guilds."""

from moothall.resources.member.events import GuildMemberUpdate
from moothall.resources.member.operations import announce_profile
from moothall.resources.user.account.operations import PROFILE_CHANGED

PROFILE_CHANGED.register(announce_profile, fires=(GuildMemberUpdate,))
