"""Members follow their user's profile."""

from moothall.resources.account.operations import PROFILE_CHANGED
from moothall.resources.member.events import GuildMemberUpdate
from moothall.resources.member.operations import announce_profile

PROFILE_CHANGED.register(announce_profile, fires=(GuildMemberUpdate,))
