"""The SQL of invites."""

from collections.abc import Iterable

from msgspec import Struct, structs
from sqlalchemy import bindparam, delete, func, or_, select, update

from moothall.objects.application import Application
from moothall.objects.ids import ApplicationId, ChannelId, GuildId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list, insert_ignore
from moothall.storage.schema import applications, guild_counters, guilds, invites


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
    """Given to those who accept; some may be gone meanwhile."""


class _ApplicationRow(Struct):
    id: ApplicationId
    name: str
    icon: str | None
    description: str
    verify_key: str
    flags: int


_live = or_(invites.c.expires_at.is_(None), invites.c.expires_at > bindparam("now"))
_unspent = or_(invites.c.max_uses == 0, invites.c.uses < invites.c.max_uses)

_insert = Query(insert_ignore(invites, key=("code",)))
_select_live = Query(select(invites).where(invites.c.code == bindparam("code"), _live), into=InviteRow)
_select_of_channel = Query(
    select(invites).where(invites.c.channel_id == bindparam("channel_id"), _live).order_by(invites.c.created_at),
    into=InviteRow,
)
_select_of_guild = Query(
    select(invites).where(invites.c.guild_id == bindparam("guild_id"), _live).order_by(invites.c.created_at),
    into=InviteRow,
)
_select_of_inviter = Query(
    select(invites).where(
        invites.c.channel_id == bindparam("channel_id"),
        invites.c.inviter_id == bindparam("inviter_id"),
        _live,
        _unspent,
    ),
    into=InviteRow,
)
_count_of_guild = Query(
    select(func.count()).select_from(invites).where(invites.c.guild_id == bindparam("guild_id"), _live)
)
_delete_expired = Query(
    delete(invites).where(invites.c.guild_id == bindparam("guild_id"), invites.c.expires_at <= bindparam("now"))
)
_delete = Query(delete(invites).where(invites.c.code == bindparam("code")))
_delete_of_channel = Query(delete(invites).where(invites.c.channel_id == bindparam("channel_id")))
_spend = Query(
    update(invites).where(invites.c.code == bindparam("code"), _live, _unspent).values(uses=invites.c.uses + 1)
)
_delete_spent = Query(
    delete(invites).where(
        invites.c.code == bindparam("code"), invites.c.max_uses > 0, invites.c.uses >= invites.c.max_uses
    )
)
_select_vanity_guild = Query(select(guilds.c.id).where(guilds.c.vanity_url_code == bindparam("code")))
_spend_vanity = Query(
    update(guilds).where(guilds.c.id == bindparam("guild_id")).values(vanity_url_uses=guilds.c.vanity_url_uses + 1)
)
_select_member_count = Query(
    select(guild_counters.c.member_count).where(guild_counters.c.guild_id == bindparam("guild_id"))
)
_select_applications = Query(
    select(
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


async def insert_invite(tx: Transaction, row: InviteRow) -> bool:
    """Store a new invite; False if its code is taken."""
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
    """One person's live invites to a channel that can still be used."""
    return await reader.all(_select_of_inviter, channel_id=channel_id, inviter_id=inviter_id, now=now)


async def count_guild_invites(reader: Reader, guild_id: GuildId, now: Timestamp) -> int:
    """How many live invites lead to a guild."""
    return int(await reader.scalar(_count_of_guild, guild_id=guild_id, now=now))


async def delete_expired(tx: Transaction, guild_id: GuildId, now: Timestamp) -> None:
    """Forget a guild's invites that have expired."""
    await tx.execute(_delete_expired, guild_id=guild_id, now=now)


async def delete_invite(tx: Transaction, code: str) -> bool:
    """Remove one invite; False if it was gone already."""
    return bool(await tx.execute(_delete, code=code))


async def delete_channel_invites(tx: Transaction, channel_id: ChannelId) -> None:
    """Remove every invite to a channel."""
    await tx.execute(_delete_of_channel, channel_id=channel_id)


async def spend_invite(tx: Transaction, code: str, now: Timestamp) -> bool:
    """Count one use of an invite; False if it has expired or was used up in the meantime."""
    return bool(await tx.execute(_spend, code=code, now=now))


async def delete_spent(tx: Transaction, code: str) -> bool:
    """Remove an invite whose last use is counted; False if some are left."""
    return bool(await tx.execute(_delete_spent, code=code))


async def select_vanity_guild(reader: Reader, code: str) -> GuildId | None:
    """The guild whose vanity code it is, in any case of its letters."""
    for spelling in dict.fromkeys((code, code.lower())):
        found: GuildId | None = await reader.scalar(_select_vanity_guild, code=spelling)
        if found is not None:
            return found
    return None


async def spend_vanity(tx: Transaction, guild_id: GuildId) -> None:
    """Count one use of a guild's vanity code."""
    await tx.execute(_spend_vanity, guild_id=guild_id)


async def count_members(reader: Reader, guild_id: GuildId) -> int:
    """How many members a guild has."""
    return int(await reader.scalar(_select_member_count, guild_id=guild_id) or 0)


async def get_applications(reader: Reader, ids: Iterable[ApplicationId]) -> dict[ApplicationId, Application]:
    """Applications by id as anyone may see them; ids that name none are left out."""
    wanted = list(set(ids))
    if not wanted:
        return {}
    rows = await reader.all(_select_applications, application_ids=wanted)
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
    """The code of the unlimited invite to a channel that is nobody's; None if there is none."""
    code: str | None = await reader.scalar(_select_widget_invite, guild_id=guild_id, channel_id=channel_id)
    return code
