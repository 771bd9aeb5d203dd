"""The SQL of the new member welcome."""

from msgspec import UNSET, Struct

from moothall.objects.guild_home import GuildHome, NewMemberAction, ResourceChannel, WelcomeMessage
from moothall.objects.ids import ChannelId, GuildId, Snowflake, UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.wire import convert, to_plain
from moothall.storage.database import Query, Reader, Transaction, upsert
from moothall.storage.sql import bindparam, select
from moothall.storage.tables import guild_homes, home_progress


class _HomeRow(Struct):
    guild_id: GuildId
    enabled: bool
    welcome_message: JsonObject | None
    new_member_actions: list[JsonObject]
    resource_channels: list[JsonObject]


_select = Query(lambda: select(guild_homes).where(guild_homes.c.guild_id == bindparam("guild_id")), into=_HomeRow)
_write = Query(
    lambda: upsert(
        guild_homes,
        key=("guild_id",),
        update=("enabled", "welcome_message", "new_member_actions", "resource_channels"),
    )
)


class _ProgressRow(Struct):
    channel_ids: list[Snowflake]


_select_progress = Query(
    lambda: select(home_progress.c.channel_ids).where(
        home_progress.c.guild_id == bindparam("guild_id"), home_progress.c.user_id == bindparam("user_id")
    ),
    into=_ProgressRow,
)
_upsert_progress = Query(lambda: upsert(home_progress, key=("guild_id", "user_id"), update=("channel_ids",)))


async def select_home(reader: Reader, guild_id: GuildId) -> GuildHome | None:
    """A guild's new member welcome as stored, which may refer to deleted channels; None if there is none."""
    row = await reader.one(_select, guild_id=guild_id)
    if row is None:
        return None
    return GuildHome(
        guild_id=row.guild_id,
        enabled=row.enabled,
        welcome_message=UNSET if row.welcome_message is None else convert(row.welcome_message, WelcomeMessage),
        new_member_actions=convert(row.new_member_actions, list[NewMemberAction]),
        resource_channels=convert(row.resource_channels, list[ResourceChannel]),
    )


async def upsert_home(tx: Transaction, home: GuildHome) -> None:
    """Insert or replace a guild's new member welcome."""
    await tx.execute(
        _write,
        guild_id=home.guild_id,
        enabled=home.enabled,
        welcome_message=None if home.welcome_message is UNSET else to_plain(home.welcome_message),
        new_member_actions=to_plain(home.new_member_actions),
        resource_channels=to_plain(home.resource_channels),
    )


async def select_progress(reader: Reader, guild_id: GuildId, user_id: UserId) -> list[ChannelId] | None:
    """The channels whose actions a member has completed; None if they have completed none."""
    row = await reader.one(_select_progress, guild_id=guild_id, user_id=user_id)
    return None if row is None else [ChannelId(channel_id) for channel_id in row.channel_ids]


async def upsert_progress(tx: Transaction, guild_id: GuildId, user_id: UserId, channel_ids: list[ChannelId]) -> None:
    """Set the channels whose actions a member has completed."""
    await tx.execute(_upsert_progress, guild_id=guild_id, user_id=user_id, channel_ids=channel_ids)
