"""The SQL of the new member welcome."""

from typing import Any

from msgspec import UNSET, Struct
from sqlalchemy import bindparam, select

from moothall.objects.guild_home import GuildHome, NewMemberAction, ResourceChannel, WelcomeMessage
from moothall.objects.ids import GuildId
from moothall.objects.wire import convert, to_plain
from moothall.storage.database import Query, Reader, Transaction, upsert
from moothall.storage.schema import guild_homes


class _HomeRow(Struct):
    guild_id: GuildId
    enabled: bool
    welcome_message: dict[str, Any] | None
    new_member_actions: list[dict[str, Any]]
    resource_channels: list[dict[str, Any]]


_select = Query(select(guild_homes).where(guild_homes.c.guild_id == bindparam("guild_id")), into=_HomeRow)
_write = Query(
    upsert(
        guild_homes,
        key=("guild_id",),
        update=("enabled", "welcome_message", "new_member_actions", "resource_channels"),
    )
)


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
