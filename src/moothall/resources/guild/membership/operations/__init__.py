"""Operations on memberships, which other rooms call as well: join, modify and remove members."""

from moothall.resources.guild.membership.operations.add import add_member
from moothall.resources.guild.membership.operations.guests import (
    make_full_member,
    remove_departed_guests,
    remove_guests_of_channel,
)
from moothall.resources.guild.membership.operations.join import (
    ADMIT_EVENTS,
    BOT_JOIN_EVENTS,
    JOIN_EVENTS,
    MEMBER_JOINED,
    admit_member,
    admit_members,
    join_guild,
)
from moothall.resources.guild.membership.operations.leave import (
    BOT_REMOVED,
    LEAVE_EVENTS,
    kick_member,
    leave_if_temporary,
    remove_member,
    remove_members,
)
from moothall.resources.guild.membership.operations.modify import (
    NICKNAME_CHANGED,
    NICKNAME_CHANGING,
    add_role_to_members,
    change_member_role,
    check_assignable,
    check_not_linked,
    modify_current_member,
    modify_member,
    role_changes,
    set_member_roles,
)

__all__ = [
    "ADMIT_EVENTS",
    "BOT_JOIN_EVENTS",
    "BOT_REMOVED",
    "JOIN_EVENTS",
    "LEAVE_EVENTS",
    "MEMBER_JOINED",
    "NICKNAME_CHANGED",
    "NICKNAME_CHANGING",
    "add_member",
    "add_role_to_members",
    "admit_member",
    "admit_members",
    "change_member_role",
    "check_assignable",
    "check_not_linked",
    "join_guild",
    "kick_member",
    "leave_if_temporary",
    "make_full_member",
    "modify_current_member",
    "modify_member",
    "remove_departed_guests",
    "remove_guests_of_channel",
    "remove_member",
    "remove_members",
    "role_changes",
    "set_member_roles",
]
