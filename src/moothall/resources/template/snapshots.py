"""Snapshots: what a template keeps of a guild, and the rows of a new guild made from one. Pure: no I/O."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import UNSET, UnsetType

from moothall.authority.guild_state import GuildState
from moothall.objects import limits
from moothall.objects.channel import Channel, DefaultReaction, ForumTag
from moothall.objects.channel_types import FORUMS, TEXT_LIKE, VOICE, ChannelType, OverwriteType
from moothall.objects.ids import ChannelId, GuildId, RoleId, SnowflakeFactory, TagId, UserId
from moothall.objects.role import Role, RoleColors
from moothall.objects.template import (
    TemplateChannel,
    TemplateOverwrite,
    TemplateRole,
    TemplateSnapshot,
    TemplateTag,
)
from moothall.objects.wire import to_plain
from moothall.resources.channel.queries import new_channel_row
from moothall.resources.guild.new_guild import NewGuild, new_guild_row
from moothall.resources.guild.objects import DEFAULT_REGION
from moothall.storage.rows import ChannelRow


def take_snapshot(guild: GuildState, channels: Iterable[Channel]) -> TemplateSnapshot:
    """The snapshot of a guild with its channels (no threads).

    Roles that are managed are left out, as are overwrites of members and of managed roles, and emojis of the guild.
    """
    row = guild.row
    roles = [role for role in guild.roles.values() if not role.managed or role.id == guild.everyone.id]
    # @everyone is 0 wherever it stands among roles of position 0.
    roles.sort(key=lambda role: role.id != guild.everyone.id)
    role_placeholders = {int(role.id): placeholder for placeholder, role in enumerate(roles)}
    ordered = list(_in_tree_order(channels))
    placeholders = {channel.id: placeholder for placeholder, channel in enumerate(ordered, start=1)}
    return TemplateSnapshot(
        name=row.name,
        description=row.description,
        region=row.region or DEFAULT_REGION,
        verification_level=row.verification_level,
        default_message_notifications=row.default_message_notifications,
        explicit_content_filter=row.explicit_content_filter,
        preferred_locale=row.preferred_locale,
        afk_timeout=row.afk_timeout,
        roles=[_snapshot_role(role, role_placeholders[role.id]) for role in roles],
        channels=[_snapshot_channel(channel, placeholders, role_placeholders) for channel in ordered],
        afk_channel_id=None if row.afk_channel_id is None else placeholders.get(row.afk_channel_id),
        system_channel_id=None if row.system_channel_id is None else placeholders.get(row.system_channel_id),
        system_channel_flags=row.system_channel_flags,
        icon_hash=row.icon,
    )


def _in_tree_order(channels: Iterable[Channel]) -> Iterator[Channel]:
    """Channels in the order of a client's list: each category before its channels."""
    children: dict[ChannelId | None, list[Channel]] = {}
    for channel in sorted(channels, key=lambda channel: (channel.position, channel.id)):
        children.setdefault(channel.parent_id or None, []).append(channel)
    top = children.get(None, [])
    for channel in sorted(top, key=lambda channel: channel.type == ChannelType.GUILD_CATEGORY):
        yield channel
        yield from children.get(channel.id, ())


def _snapshot_role(role: Role, placeholder: int) -> TemplateRole:
    return TemplateRole(
        id=placeholder,
        name=role.name,
        permissions=role.permissions,
        color=role.color,
        colors=role.colors,
        hoist=role.hoist,
        mentionable=role.mentionable,
        icon=role.icon,
        unicode_emoji=role.unicode_emoji,
    )


_TYPES: Final = {
    ChannelType.GUILD_ANNOUNCEMENT: ChannelType.GUILD_TEXT,
    ChannelType.GUILD_STAGE_VOICE: ChannelType.GUILD_VOICE,
    ChannelType.GUILD_MEDIA: ChannelType.GUILD_FORUM,
}
"""The types of channels that a template has instead of those that only community guilds have.

The public description has types 0, 2, 4 and 15 in templates.
"""


def _snapshot_channel(
    channel: Channel, placeholders: Mapping[ChannelId, int], role_placeholders: Mapping[int, int]
) -> TemplateChannel:
    return TemplateChannel(
        id=placeholders[channel.id],
        type=_TYPES.get(ChannelType(channel.type), channel.type),
        name=channel.name or "",
        position=channel.position or 0,
        topic=channel.topic or None,
        bitrate=channel.bitrate or limits.BITRATE_DEFAULT,
        user_limit=channel.user_limit or 0,
        nsfw=bool(channel.nsfw),
        rate_limit_per_user=channel.rate_limit_per_user or 0,
        parent_id=placeholders.get(channel.parent_id) if channel.parent_id else None,
        default_auto_archive_duration=channel.default_auto_archive_duration or None,
        permission_overwrites=[
            TemplateOverwrite(id=role_placeholders[overwrite.id], allow=overwrite.allow, deny=overwrite.deny)
            for overwrite in channel.permission_overwrites or ()
            if overwrite.type == OverwriteType.ROLE and overwrite.id in role_placeholders
        ],
        available_tags=_snapshot_tags(channel.available_tags or ()) if channel.type in FORUMS else None,
        default_reaction_emoji=_standard_emoji(channel.default_reaction_emoji or None),
        default_thread_rate_limit_per_user=_present(channel.default_thread_rate_limit_per_user),
        default_sort_order=_present(channel.default_sort_order),
        default_forum_layout=_present(channel.default_forum_layout),
    )


def _present(value: int | UnsetType | None) -> int | None:
    return None if value is UNSET else value


def _snapshot_tags(tags: Iterable[ForumTag]) -> list[TemplateTag]:
    return [
        TemplateTag(id=placeholder, name=tag.name, emoji_name=tag.emoji_name, moderated=tag.moderated)
        for placeholder, tag in enumerate(tags)
    ]


def _standard_emoji(emoji: DefaultReaction | None) -> DefaultReaction | None:
    """The emoji if it is a standard one; emojis of a guild cannot be used in another guild's forums."""
    return emoji if emoji is not None and emoji.emoji_id is None else None


def build_guild_from_snapshot(
    snapshot: TemplateSnapshot, *, name: str, icon: str | None, owner_id: UserId, ids: SnowflakeFactory
) -> NewGuild:
    """Build the rows of a new guild with the roles, channels and settings of a snapshot.

    What only boosted guilds may have is reduced to what every guild may: bitrates, and icons and gradients of roles.
    """
    guild_id = GuildId(ids.next())
    role_ids = {role.id: RoleId(guild_id) if role.id == 0 else RoleId(ids.next()) for role in snapshot.roles}
    channel_ids = {channel.id: ChannelId(ids.next()) for channel in snapshot.channels}
    guild = new_guild_row(
        guild_id,
        version=ids.next(),
        name=name,
        icon=icon,
        owner_id=owner_id,
        description=snapshot.description,
        region=None if snapshot.region == DEFAULT_REGION else snapshot.region,
        verification_level=snapshot.verification_level,
        default_message_notifications=snapshot.default_message_notifications,
        explicit_content_filter=snapshot.explicit_content_filter,
        preferred_locale=snapshot.preferred_locale,
        afk_timeout=snapshot.afk_timeout,
        afk_channel_id=None if snapshot.afk_channel_id is None else channel_ids[snapshot.afk_channel_id],
        system_channel_id=None if snapshot.system_channel_id is None else channel_ids[snapshot.system_channel_id],
        system_channel_flags=snapshot.system_channel_flags,
    )
    return NewGuild(
        guild,
        [_role(role, role_ids[role.id]) for role in snapshot.roles],
        [_channel_row(channel, guild_id, channel_ids, role_ids, ids) for channel in snapshot.channels],
    )


def _role(role: TemplateRole, role_id: RoleId) -> Role:
    return Role(
        id=role_id,
        name=role.name,
        color=role.color,
        colors=RoleColors(primary_color=role.color),
        hoist=role.hoist,
        position=role.id,
        permissions=role.permissions,
        managed=False,
        mentionable=role.mentionable,
    )


def _channel_row(
    channel: TemplateChannel,
    guild_id: GuildId,
    channel_ids: Mapping[int, ChannelId],
    role_ids: Mapping[int, RoleId],
    ids: SnowflakeFactory,
) -> ChannelRow:
    row = new_channel_row(channel_ids[channel.id], channel.type, guild_id=guild_id, name=channel.name)
    row.position = channel.position
    row.parent_id = None if channel.parent_id is None else channel_ids[channel.parent_id]
    row.permission_overwrites = [
        {
            "id": str(int(role_ids[overwrite.id])),
            "type": overwrite.type,
            "allow": overwrite.allow.wire(),
            "deny": overwrite.deny.wire(),
        }
        for overwrite in channel.permission_overwrites
    ]
    row.topic = channel.topic
    row.nsfw = channel.nsfw
    row.rate_limit_per_user = channel.rate_limit_per_user
    if channel.type in VOICE:
        row.bitrate = min(channel.bitrate, limits.BITRATE_BY_TIER[0])
        row.user_limit = channel.user_limit
    if channel.type in TEXT_LIKE:
        row.default_auto_archive_duration = channel.default_auto_archive_duration
        row.default_thread_rate_limit_per_user = channel.default_thread_rate_limit_per_user
    if channel.type in FORUMS:
        row.default_sort_order = channel.default_sort_order
        row.default_forum_layout = channel.default_forum_layout
        row.default_reaction_emoji = to_plain(channel.default_reaction_emoji)
        row.available_tags = [
            to_plain(ForumTag(id=TagId(ids.next()), name=tag.name, moderated=tag.moderated, emoji_name=tag.emoji_name))
            for tag in channel.available_tags or ()
        ]
    return row
