"""Reading the state of a guild, whole or what has changed of it, and giving it a new version."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from moothall.authority.channel_queries import select_channels
from moothall.authority.guild_changes import MAX_TEXT, GuildChange, GuildPart
from moothall.authority.guild_state import ChangedRows, GuildState, roles_in_order
from moothall.objects.channel import Channel
from moothall.objects.emoji import Emoji
from moothall.objects.expressions import emojis_with_availability, stickers_with_availability
from moothall.objects.ids import ChannelId, GuildId, RoleId, Snowflake
from moothall.objects.role import Role
from moothall.objects.sticker import Sticker
from moothall.storage import sql
from moothall.storage.bulk import map_batches
from moothall.storage.database import Query, Reader, in_list
from moothall.storage.rows import (
    ChannelRow,
    EmojiRow,
    GuildRow,
    RoleRow,
    StickerRow,
    channel_from_row,
    emoji_from_row,
    role_from_row,
    sticker_from_row,
)
from moothall.storage.sql import ClauseElement, Text, bindparam, func, select, update
from moothall.storage.statements.statement import ByDialect
from moothall.storage.tables import emojis, guilds, roles, stickers

_BATCH = 50
"""Changed roles or channels that are read at once: a fraction of a millisecond."""

select_guild = Query(lambda: select(guilds).where(guilds.c.id == bindparam("guild_id")), into=GuildRow)
_select_roles = Query(lambda: select(roles).where(roles.c.guild_id == bindparam("guild_id")), into=RoleRow)
_select_role = Query(
    lambda: select(roles).where(roles.c.guild_id == bindparam("guild_id"), roles.c.id == bindparam("role_id")),
    into=RoleRow,
)
_select_some_roles = Query(
    lambda: select(roles).where(roles.c.guild_id == bindparam("guild_id"), in_list(roles.c.id, "role_ids")),
    into=RoleRow,
)
_select_emojis = Query(
    lambda: select(emojis).where(emojis.c.guild_id == bindparam("guild_id")).order_by(emojis.c.id), into=EmojiRow
)
_select_stickers = Query(
    lambda: select(stickers).where(stickers.c.guild_id == bindparam("guild_id")).order_by(stickers.c.id),
    into=StickerRow,
)


def _renewal(*, of_version: bool) -> ByDialect:
    """Set the version of a guild and append to its recent changes, of which the oldest are cut off."""

    def build(dialect: str) -> ClauseElement:
        line = sql.cast(guilds.c.version, Text).concat(bindparam("line", type_=Text))
        changes = guilds.c.recent_changes.concat("\n").concat(line)
        cut = func.substr(changes, -MAX_TEXT) if dialect == "sqlite" else func.right(changes, MAX_TEXT)
        statement = update(guilds).where(guilds.c.id == bindparam("guild_id"))
        if of_version:
            statement = statement.where(guilds.c.version == bindparam("old_version"))
        return statement.values(version=bindparam("new_version"), recent_changes=cut)

    return ByDialect(build)


renew = Query(lambda: _renewal(of_version=False))
renew_version = Query(lambda: _renewal(of_version=True))


async def load_state(reader: Reader, row: GuildRow) -> GuildState:
    """The state of a guild whose row has just been read."""
    guild_id = row.id
    return GuildState(
        row,
        roles_in_order([role_from_row(r) for r in await reader.all(_select_roles, guild_id=guild_id)]),
        emojis_with_availability(await _emojis(reader, guild_id), row.premium_tier),
        stickers_with_availability(await _stickers(reader, guild_id), row.premium_tier, row.features),
    )


async def _emojis(reader: Reader, guild_id: GuildId) -> list[Emoji]:
    return [emoji_from_row(row) for row in await reader.all(_select_emojis, guild_id=guild_id)]


async def _stickers(reader: Reader, guild_id: GuildId) -> list[Sticker]:
    return [sticker_from_row(row) for row in await reader.all(_select_stickers, guild_id=guild_id)]


async def apply_changes(
    reader: Reader,
    base: GuildState,
    row: GuildRow,
    changes: Collection[GuildChange],
    known_roles: Mapping[int, Role | None] = MappingProxyType({}),
) -> GuildState:
    """The state of the version in `row`, made from that of an earlier version and what has changed since."""
    parts = frozenset(change.part for change in changes)
    role_ids = [RoleId(Snowflake(change.row_id)) for change in changes if change.part is GuildPart.ROLE]
    channel_ids = [ChannelId(Snowflake(change.row_id)) for change in changes if change.part is GuildPart.CHANNEL]
    changed = ChangedRows(
        parts,
        await _roles(reader, row.id, role_ids, known_roles),
        await _channels(reader, base, channel_ids),
        await _emojis(reader, row.id) if GuildPart.EMOJIS in parts else None,
        await _stickers(reader, row.id) if GuildPart.STICKERS in parts else None,
    )
    return base.successor(row, changed)


async def _roles(
    reader: Reader, guild_id: GuildId, role_ids: list[RoleId], known: Mapping[int, Role | None]
) -> dict[RoleId, Role | None]:
    """The roles of a guild by id, None for deleted ones; those that are not known are read."""
    roles: dict[RoleId, Role | None] = {role_id: known.get(role_id) for role_id in role_ids}
    unread = [role_id for role_id, role in roles.items() if role is None]
    if len(unread) == 1:
        row = await reader.one(_select_role, guild_id=guild_id, role_id=unread[0])
        roles[unread[0]] = None if row is None else role_from_row(row)
        return roles

    async def read_batch(role_ids: Sequence[RoleId]) -> list[RoleRow]:
        return await reader.all(_select_some_roles, guild_id=guild_id, role_ids=list(role_ids))

    roles.update((row.id, role_from_row(row)) for row in await map_batches(reader, read_batch, unread, _BATCH))
    return roles


async def _channels(reader: Reader, base: GuildState, channel_ids: list[ChannelId]) -> dict[ChannelId, Channel | None]:
    """Those channels among some that a state has loaded, as they are now; None for deleted ones."""
    loaded = [channel_id for channel_id in channel_ids if base.has_channel(channel_id)]
    if not loaded:
        return {}
    channels: dict[ChannelId, Channel | None] = dict.fromkeys(loaded)

    async def read_batch(ids: Sequence[ChannelId]) -> Iterable[ChannelRow]:
        return (await select_channels(reader, ids)).values()

    channels.update((row.id, channel_from_row(row)) for row in await map_batches(reader, read_batch, loaded, _BATCH))
    return channels
