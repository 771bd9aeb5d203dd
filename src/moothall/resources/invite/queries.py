"""The SQL of invites."""

from collections.abc import Iterable

from msgspec import Struct, structs

from moothall.objects.application import Application
from moothall.objects.ids import ApplicationId, ChannelId, GuildId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list, insert_ignore
from moothall.storage.sql import bindparam, delete, func, or_, select, update
from moothall.storage.tables import applications, guilds, invites


class InviteRow(Struct):
    """A row of `invites`."""

    code: str
    guild_id: GuildId | None
    channel_id: ChannelId
    inviter_id: UserId | None
    type: int
    target_type: int | None
    target_user_id: UserId | None
    target_application_id: ApplicationId | None
    max_age: int
    max_uses: int
    uses: int
    temporary: bool
    created_at: Timestamp
    expires_at: Timestamp | None
    flags: int
    role_ids: list[Snowflake]
    """Roles added to those who accept; some may have been deleted since."""


class _ApplicationRow(Struct):
    id: ApplicationId
    name: str
    icon: str | None
    description: str
    verify_key: str
    flags: int


_live = or_(invites.c.expires_at.is_(None), invites.c.expires_at > bindparam("now"))
_usable = or_(invites.c.max_uses == 0, invites.c.uses < invites.c.max_uses)

_insert = Query(lambda: insert_ignore(invites, key=("code",)))
_select_live = Query(lambda: select(invites).where(invites.c.code == bindparam("code"), _live), into=InviteRow)
_select_of_channel = Query(
    lambda: (
        select(invites).where(invites.c.channel_id == bindparam("channel_id"), _live).order_by(invites.c.created_at)
    ),
    into=InviteRow,
)
_select_of_guild = Query(
    lambda: select(invites).where(invites.c.guild_id == bindparam("guild_id"), _live).order_by(invites.c.created_at),
    into=InviteRow,
)
_select_of_inviter = Query(
    lambda: select(invites).where(
        invites.c.channel_id == bindparam("channel_id"),
        invites.c.inviter_id == bindparam("inviter_id"),
        _live,
        _usable,
    ),
    into=InviteRow,
)
_count_of_guild = Query(
    lambda: select(func.count()).select_from(invites).where(invites.c.guild_id == bindparam("guild_id"), _live)
)
_delete_expired = Query(
    lambda: delete(invites).where(invites.c.guild_id == bindparam("guild_id"), invites.c.expires_at <= bindparam("now"))
)
_delete = Query(lambda: delete(invites).where(invites.c.code == bindparam("code")))
_delete_of_channel = Query(lambda: delete(invites).where(invites.c.channel_id == bindparam("channel_id")))
_count_use = Query(
    lambda: update(invites).where(invites.c.code == bindparam("code"), _live, _usable).values(uses=invites.c.uses + 1)
)
_delete_used_up = Query(
    lambda: delete(invites).where(
        invites.c.code == bindparam("code"), invites.c.max_uses > 0, invites.c.uses >= invites.c.max_uses
    )
)
_select_vanity_guild = Query(lambda: select(guilds.c.id).where(guilds.c.vanity_url_code == bindparam("code")))
_count_vanity_use = Query(
    lambda: (
        update(guilds).where(guilds.c.id == bindparam("guild_id")).values(vanity_url_uses=guilds.c.vanity_url_uses + 1)
    )
)
_select_applications = Query(
    lambda: select(
        applications.c.id,
        applications.c.name,
        applications.c.icon,
        applications.c.description,
        applications.c.verify_key,
        applications.c.flags,
    ).where(in_list(applications.c.id, "application_ids")),
    into=_ApplicationRow,
)
_select_widget_invite = Query(
    lambda: (
        select(invites.c.code)
        .where(
            invites.c.guild_id == bindparam("guild_id"),
            invites.c.channel_id == bindparam("channel_id"),
            invites.c.inviter_id.is_(None),
            invites.c.expires_at.is_(None),
            invites.c.max_uses == 0,
            invites.c.target_type.is_(None),
        )
        .order_by(invites.c.created_at)
        .limit(1)
    )
)


async def insert_invite(tx: Transaction, row: InviteRow) -> bool:
    """Insert an invite; False if its code is taken."""
    return bool(await tx.execute(_insert, **structs.asdict(row)))


async def select_invite(reader: Reader, code: str, now: Timestamp) -> InviteRow | None:
    """An invite that has not expired; None if there is none."""
    return await reader.one(_select_live, code=code, now=now)


async def select_channel_invites(reader: Reader, channel_id: ChannelId, now: Timestamp) -> list[InviteRow]:
    """The live invites to a channel, oldest first."""
    return await reader.all(_select_of_channel, channel_id=channel_id, now=now)


async def select_guild_invites(reader: Reader, guild_id: GuildId, now: Timestamp) -> list[InviteRow]:
    """The live invites to a guild, oldest first."""
    return await reader.all(_select_of_guild, guild_id=guild_id, now=now)


async def select_own_invites(
    reader: Reader, channel_id: ChannelId, inviter_id: UserId, now: Timestamp
) -> list[InviteRow]:
    """A user's live invites to a channel that have uses left."""
    return await reader.all(_select_of_inviter, channel_id=channel_id, inviter_id=inviter_id, now=now)


async def count_guild_invites(reader: Reader, guild_id: GuildId, now: Timestamp) -> int:
    """The number of live invites to a guild."""
    return int(await reader.scalar(_count_of_guild, guild_id=guild_id, now=now))


async def delete_expired(tx: Transaction, guild_id: GuildId, now: Timestamp) -> None:
    """Delete the expired invites to a guild."""
    await tx.execute(_delete_expired, guild_id=guild_id, now=now)


async def delete_invite(tx: Transaction, code: str) -> bool:
    """Delete one invite; False if there is none."""
    return bool(await tx.execute(_delete, code=code))


async def delete_channel_invites(tx: Transaction, channel_id: ChannelId) -> None:
    """Delete every invite to a channel."""
    await tx.execute(_delete_of_channel, channel_id=channel_id)


async def count_use(tx: Transaction, code: str, now: Timestamp) -> bool:
    """Count one use of an invite; False if it has expired or has no uses left."""
    return bool(await tx.execute(_count_use, code=code, now=now))


async def delete_used_up(tx: Transaction, code: str) -> bool:
    """Delete an invite without uses left; False if it has some."""
    return bool(await tx.execute(_delete_used_up, code=code))


async def select_vanity_guild(reader: Reader, code: str) -> GuildId | None:
    """The guild with a vanity code, ignoring case; None if there is none."""
    for spelling in dict.fromkeys((code, code.lower())):
        guild_id: GuildId | None = await reader.scalar(_select_vanity_guild, code=spelling)
        if guild_id is not None:
            return guild_id
    return None


async def count_vanity_use(tx: Transaction, guild_id: GuildId) -> None:
    """Count one use of a guild's vanity code."""
    await tx.execute(_count_vanity_use, guild_id=guild_id)


async def get_applications(reader: Reader, ids: Iterable[ApplicationId]) -> dict[ApplicationId, Application]:
    """Public application objects by id; unknown ids are left out."""
    application_ids = list(set(ids))
    if not application_ids:
        return {}
    rows = await reader.all(_select_applications, application_ids=application_ids)
    return {
        row.id: Application(
            id=row.id,
            name=row.name,
            icon=row.icon,
            description=row.description,
            verify_key=row.verify_key,
            flags=row.flags,
            flags_new=str(row.flags),
        )
        for row in rows
    }


async def select_widget_invite(reader: Reader, guild_id: GuildId, channel_id: ChannelId) -> str | None:
    """The code of the unlimited invite to a channel without an inviter; None if there is none."""
    code: str | None = await reader.scalar(_select_widget_invite, guild_id=guild_id, channel_id=channel_id)
    return code
