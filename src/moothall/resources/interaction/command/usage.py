"""Whether a guild's permissions for commands let a member use one."""

from collections.abc import Mapping

from moothall.authority.member_authority import MemberAuthority
from moothall.objects.command import Command, CommandPermissionType
from moothall.objects.ids import ChannelId, Snowflake
from moothall.objects.permissions import Permissions
from moothall.resources.interaction.command.objects import permissions_object
from moothall.resources.interaction.command.queries import PermissionsRow


def can_use_command(
    member: MemberAuthority,
    permissions: int,
    channel_id: ChannelId | None,
    command: Command,
    permissions_by_id: Mapping[Snowflake, PermissionsRow],
) -> bool:
    """Whether a member can use a command in a channel, or with None in any channel of the guild.

    The guild's permissions for the command decide, else those for its application, else the command's
    `default_member_permissions`. `permissions` are the member's in the channel; `permissions_by_id` are the guild's
    command permissions by the id of the command or the application.
    """
    if permissions & Permissions.ADMINISTRATOR:
        return True
    of_application = permissions_by_id.get(Snowflake(command.application_id))
    of_command = permissions_by_id.get(Snowflake(command.id))
    if channel_id is not None and not _is_channel_allowed(member, channel_id, of_command, of_application):
        return False
    allowed = is_member_allowed(member, of_command)
    if allowed is None:
        allowed = is_member_allowed(member, of_application)
    if allowed is not None:
        return allowed
    needed = command.default_member_permissions
    if needed is None:
        return True
    return bool(needed) and permissions & needed == needed


def _is_channel_allowed(member: MemberAuthority, channel_id: ChannelId, *rows: PermissionsRow | None) -> bool:
    """Whether the first row that has the channel, or all channels (guild id - 1), allows it; True if none has."""
    all_channels = Snowflake(member.guild.id - 1)
    for row in rows:
        if row is None:
            continue
        permission_by_id = {
            entry.id: entry.permission
            for entry in permissions_object(row).permissions
            if entry.type == CommandPermissionType.CHANNEL
        }
        for key in (Snowflake(channel_id), all_channels):
            if key in permission_by_id:
                return permission_by_id[key]
    return True


def is_member_allowed(member: MemberAuthority, row: PermissionsRow | None) -> bool | None:
    """The permission of the user, else of any of their roles, else of @everyone; None if the row has none of these."""
    if row is None:
        return None
    entries = permissions_object(row).permissions
    for entry in entries:
        if entry.type == CommandPermissionType.USER and entry.id == member.user_id:
            return entry.permission
    by_role = [
        entry.permission
        for entry in entries
        if entry.type == CommandPermissionType.ROLE and entry.id in member.role_ids
    ]
    if by_role:
        return any(by_role)
    for entry in entries:
        if entry.type == CommandPermissionType.ROLE and entry.id == member.guild.id:
            return entry.permission
    return None
