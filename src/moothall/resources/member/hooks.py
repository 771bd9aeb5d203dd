"""Members follow their user's profile."""

from moothall.resources.member.events import GuildMemberUpdate
from moothall.resources.member.operations import announce_profile
from moothall.resources.user.account.operations import PROFILE_CHANGED

PROFILE_CHANGED.register(announce_profile, fires=(GuildMemberUpdate,))
