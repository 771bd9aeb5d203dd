"""The SQL of settings."""

from collections.abc import Iterable

from msgspec import Struct

from moothall.objects.ids import ChannelId, GuildId, Snowflake, UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.user_settings import SettingsProtoType, UserGuildSettings
from moothall.objects.wire import Timestamp, convert
from moothall.storage.database import Query, Reader, Transaction, in_list, upsert
from moothall.storage.sql import bindparam, select
from moothall.storage.tables import (
    channel_recipients,
    channels,
    members,
    user_guild_settings,
    user_settings,
    user_settings_protos,
)

DIRECT_MESSAGES = GuildId(Snowflake(0))
"""The `guild_id` of the settings of direct messages."""


class ProtoRow(Struct):
    """A row of `user_settings_protos`."""

    proto: bytes = b""
    data_version: int = 0


class GuildSettingsRow(Struct):
    """A row of `user_guild_settings`."""

    user_id: UserId
    guild_id: GuildId
    settings: JsonObject
    version: Timestamp


_of_user = user_guild_settings.c.user_id == bindparam("user_id")
_others = members.alias()
_select_settings = Query(
    lambda: select(user_settings.c.settings).where(user_settings.c.user_id == bindparam("user_id"))
)
_upsert_settings = Query(lambda: upsert(user_settings, key=("user_id",), update=("settings",)))
_P = user_settings_protos.c
_select_proto = Query(
    lambda: select(_P.proto, _P.data_version).where(
        _P.user_id == bindparam("user_id"), _P.type == bindparam("proto_type")
    ),
    into=ProtoRow,
)
_upsert_proto = Query(
    lambda: upsert(user_settings_protos, key=("user_id", "type"), update=("proto", "data_version")),
)
_select_all = Query(
    lambda: select(user_guild_settings).where(_of_user).order_by(user_guild_settings.c.guild_id), into=GuildSettingsRow
)
_select_some = Query(
    lambda: select(user_guild_settings).where(_of_user, in_list(user_guild_settings.c.guild_id, "guild_ids")),
    into=GuildSettingsRow,
)
_upsert_guild_settings = Query(
    lambda: upsert(user_guild_settings, key=("user_id", "guild_id"), update=("settings", "version"))
)
_select_shared_ids = Query(
    lambda: (
        select(members.c.guild_id)
        .select_from(members.join(_others, _others.c.guild_id == members.c.guild_id))
        .where(members.c.user_id == bindparam("one_id"), _others.c.user_id == bindparam("other_id"))
    )
)


_select_own_direct_ids = Query(
    lambda: select(channel_recipients.c.channel_id).where(
        in_list(channel_recipients.c.channel_id, "channel_ids"), channel_recipients.c.user_id == bindparam("user_id")
    )
)
_select_guilds_of_channels = Query(
    lambda: select(channels.c.id, channels.c.guild_id).where(
        in_list(channels.c.id, "channel_ids"), in_list(channels.c.guild_id, "guild_ids")
    )
)
_select_own_guild_ids = Query(
    lambda: select(members.c.guild_id).where(
        in_list(members.c.guild_id, "guild_ids"), members.c.user_id == bindparam("user_id")
    )
)


async def select_own_direct_ids(reader: Reader, user_id: UserId, channel_ids: Iterable[ChannelId]) -> set[int]:
    """Those of some direct messages that a user is a recipient of."""
    rows = await reader.all(_select_own_direct_ids, user_id=user_id, channel_ids=list(channel_ids))
    return {row[0] for row in rows}


async def select_guilds_of_channels(
    reader: Reader, guild_ids: Iterable[GuildId], channel_ids: Iterable[ChannelId]
) -> dict[int, int]:
    """The guild of each of some channels that belongs to one of some guilds."""
    rows = await reader.all(_select_guilds_of_channels, guild_ids=list(guild_ids), channel_ids=list(channel_ids))
    return {row[0]: row[1] for row in rows}


async def select_own_guild_ids(reader: Reader, user_id: UserId, guild_ids: Iterable[GuildId]) -> set[int]:
    """Those of some guilds that a user is a member of."""
    return {row[0] for row in await reader.all(_select_own_guild_ids, user_id=user_id, guild_ids=list(guild_ids))}


async def select_changed_settings(reader: Reader, user_id: UserId) -> JsonObject:
    """The settings that a user has changed."""
    settings: JsonObject | None = await reader.scalar(_select_settings, user_id=user_id)
    return settings or {}


async def upsert_settings(tx: Transaction, user_id: UserId, settings: JsonObject) -> None:
    """Store the settings that a user has changed."""
    await tx.execute(_upsert_settings, user_id=user_id, settings=settings)


async def select_guild_settings(
    reader: Reader, user_id: UserId, guild_ids: Iterable[GuildId] | None = None
) -> list[UserGuildSettings]:
    """The guild settings that a user has changed, of some guilds or of all."""
    if guild_ids is None:
        rows = await reader.all(_select_all, user_id=user_id)
    else:
        rows = await reader.all(_select_some, user_id=user_id, guild_ids=list(guild_ids))
    return [_from_row(row) for row in rows]


async def upsert_guild_settings(tx: Transaction, rows: Iterable[GuildSettingsRow]) -> None:
    """Store guild settings in place of the earlier ones."""
    await tx.execute_many(
        _upsert_guild_settings,
        [
            {"user_id": row.user_id, "guild_id": row.guild_id, "settings": row.settings, "version": row.version}
            for row in rows
        ],
    )


async def select_shared_guild_ids(reader: Reader, one: UserId, other: UserId) -> set[int]:
    """The guilds that two users are both members of."""
    return {row[0] for row in await reader.all(_select_shared_ids, one_id=one, other_id=other)}


def _from_row(row: GuildSettingsRow) -> UserGuildSettings:
    guild_id = None if row.guild_id == DIRECT_MESSAGES else row.guild_id
    values = {**row.settings, "guild_id": None if guild_id is None else str(int(guild_id)), "version": int(row.version)}
    settings: UserGuildSettings = convert(values, UserGuildSettings)
    return settings


async def select_proto(reader: Reader, user_id: UserId, proto_type: SettingsProtoType) -> ProtoRow:
    """A protocol buffer of a user as it is stored, empty at first."""
    row: ProtoRow | None = await reader.one(_select_proto, user_id=user_id, proto_type=int(proto_type))
    return row or ProtoRow()


async def upsert_proto(tx: Transaction, user_id: UserId, proto_type: SettingsProtoType, row: ProtoRow) -> None:
    """Store a protocol buffer of a user."""
    await tx.execute(
        _upsert_proto, user_id=user_id, type=int(proto_type), proto=row.proto, data_version=row.data_version
    )
