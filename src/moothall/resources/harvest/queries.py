"""SQL of archives, and of what is collected in them."""

from collections.abc import Collection

from msgspec import Struct, structs

from moothall.objects.ids import GuildId, MessageId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.harvest.archive import ArchiveFile
from moothall.storage.database import Query, Reader, Transaction, in_list, upsert
from moothall.storage.sql import bindparam, delete, select, update
from moothall.storage.tables import guilds, harvest_files, harvests, members, messages, roles

MESSAGES_AT_ONCE = 200


class HarvestRow(Struct):
    """A row of `harvests`."""

    user_id: UserId
    id: Snowflake
    status: int
    backends: dict[str, str]
    created_at: Timestamp
    updated_at: Timestamp
    completed_at: Timestamp | None
    polled_at: Timestamp | None
    size: int


class CollectedMessage(Struct):
    """A message of the user whose data are collected."""

    id: MessageId
    guild_id: GuildId | None
    body: bytes


class CollectedMembership(Struct):
    """A guild of the user whose data are collected."""

    guild_id: GuildId
    name: str
    owner_id: UserId
    nick: str | None
    roles: list[Snowflake]
    joined_at: Timestamp


_of_user = harvests.c.user_id == bindparam("user_id")
_select = Query(lambda: select(harvests).where(_of_user), into=HarvestRow)
_upsert = Query(
    lambda: upsert(
        harvests,
        key=("user_id",),
        update=("id", "status", "backends", "created_at", "updated_at", "completed_at", "polled_at", "size"),
    )
)
_update_polled = Query(lambda: update(harvests).where(_of_user).values(polled_at=bindparam("now")))
_of_harvest = harvest_files.c.harvest_id == bindparam("harvest_id")
_insert_file = Query(
    lambda: upsert(
        harvest_files,
        key=("harvest_id", "number"),
        update=("name", "checksum", "size", "compressed_size", "length"),
    )
)
_select_files = Query(
    lambda: (
        select(
            harvest_files.c.name,
            harvest_files.c.checksum,
            harvest_files.c.size,
            harvest_files.c.compressed_size,
            harvest_files.c.length,
        )
        .where(_of_harvest)
        .order_by(harvest_files.c.number)
    ),
    into=ArchiveFile,
)
_some_numbers = select(harvest_files.c.number).where(_of_harvest).order_by(harvest_files.c.number).limit(100)
_select_some_numbers = Query(_some_numbers)
_delete_files = Query(lambda: delete(harvest_files).where(_of_harvest, in_list(harvest_files.c.number, "numbers")))
_select_messages = Query(
    lambda: (
        select(messages.c.id, messages.c.guild_id, messages.c.body)
        .where(
            messages.c.author_id == bindparam("user_id"),
            messages.c.id > bindparam("after"),
            messages.c.webhook_id.is_(None),
        )
        .order_by(messages.c.id)
        .limit(MESSAGES_AT_ONCE)
    ),
    into=CollectedMessage,
)
_select_memberships = Query(
    lambda: (
        select(
            members.c.guild_id, guilds.c.name, guilds.c.owner_id, members.c.nick, members.c.roles, members.c.joined_at
        )
        .select_from(members.join(guilds, guilds.c.id == members.c.guild_id))
        .where(members.c.user_id == bindparam("user_id"))
        .order_by(members.c.guild_id)
    ),
    into=CollectedMembership,
)
_select_role_names = Query(lambda: select(roles.c.id, roles.c.name).where(in_list(roles.c.guild_id, "guild_ids")))


async def select_harvest(reader: Reader, user_id: UserId) -> HarvestRow | None:
    """The newest archive that a user has requested; None if there is none."""
    return await reader.one(_select, user_id=user_id)


async def upsert_harvest(tx: Transaction, row: HarvestRow) -> None:
    """Store the newest archive of a user."""
    await tx.execute(_upsert, **structs.asdict(row))


async def update_polled(tx: Transaction, user_id: UserId, now: Timestamp) -> None:
    """Record that a user has looked at the state of their archive."""
    await tx.execute(_update_polled, user_id=user_id, now=now)


async def insert_file(tx: Transaction, harvest_id: Snowflake, number: int, file: ArchiveFile) -> None:
    """Store a file of an archive; a repeated step replaces it."""
    await tx.execute(_insert_file, harvest_id=harvest_id, number=number, **structs.asdict(file))


async def select_files(reader: Reader, harvest_id: Snowflake) -> list[ArchiveFile]:
    """The files of an archive in order; the last one of a complete archive is its directory."""
    return await reader.all(_select_files, harvest_id=harvest_id)


async def delete_some_files(tx: Transaction, harvest_id: Snowflake) -> list[int]:
    """Delete at most a hundred files of an archive; their numbers."""
    numbers = [int(row[0]) for row in await tx.all(_select_some_numbers, harvest_id=harvest_id)]
    await tx.execute(_delete_files, harvest_id=harvest_id, numbers=numbers)
    return numbers


async def select_messages_of(reader: Reader, user_id: UserId, after: MessageId) -> list[CollectedMessage]:
    """At most `MESSAGES_AT_ONCE` messages of an author with an id above `after`, oldest first."""
    return await reader.all(_select_messages, user_id=user_id, after=after)


async def select_memberships_of(reader: Reader, user_id: UserId) -> list[CollectedMembership]:
    """The guilds of a user, oldest first."""
    return await reader.all(_select_memberships, user_id=user_id)


async def select_role_names(reader: Reader, guild_ids: Collection[GuildId]) -> dict[int, str]:
    """The names of all roles of some guilds, by id."""
    return {row[0]: row[1] for row in await reader.all(_select_role_names, guild_ids=list(guild_ids))}
