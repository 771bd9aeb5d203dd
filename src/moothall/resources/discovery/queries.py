"""The SQL of discoverable guilds."""

from typing import Final

from msgspec import Struct

from moothall.objects.discovery import GENERAL
from moothall.objects.ids import GuildId
from moothall.storage.database import Query, Reader, Transaction, upsert
from moothall.storage.sql import bindparam, func, literal_column, select
from moothall.storage.tables import guild_counters, guild_discovery, guilds

LISTED_MAX: Final = 2_000
"""How many guilds are listed: the largest."""


class MetadataRow(Struct, frozen=True):
    """A row of `guild_discovery`."""

    guild_id: GuildId
    primary_category_id: int = GENERAL
    keywords: list[str] = []


class DiscoverableRow(Struct, frozen=True):
    """A guild with the feature DISCOVERABLE."""

    id: GuildId
    name: str
    icon: str | None
    splash: str | None
    banner: str | None
    discovery_splash: str | None
    description: str | None
    preferred_locale: str
    features: list[str]
    premium_subscription_count: int
    nsfw_level: int
    member_count: int
    primary_category_id: int | None
    keywords: list[str] | None


_select_metadata = Query(
    lambda: select(guild_discovery).where(guild_discovery.c.guild_id == bindparam("guild_id")), into=MetadataRow
)
_upsert_metadata = Query(lambda: upsert(guild_discovery, key=("guild_id",), update=("primary_category_id", "keywords")))
_select_discoverable = Query(
    lambda: (
        select(
            guilds.c.id,
            guilds.c.name,
            guilds.c.icon,
            guilds.c.splash,
            guilds.c.banner,
            guilds.c.discovery_splash,
            guilds.c.description,
            guilds.c.preferred_locale,
            guilds.c.features,
            guilds.c.premium_subscription_count,
            guilds.c.nsfw_level,
            func.coalesce(guild_counters.c.member_count, 0).label("member_count"),
            guild_discovery.c.primary_category_id,
            guild_discovery.c.keywords,
        )
        .select_from(
            guilds.join(guild_counters, guild_counters.c.guild_id == guilds.c.id).outerjoin(
                guild_discovery, guild_discovery.c.guild_id == guilds.c.id
            )
        )
        .where(
            # As the index over these guilds says it.
            literal_column("replace(guilds.features, '\"DISCOVERABLE\"', '')") != literal_column("guilds.features")
        )
        .order_by(guild_counters.c.member_count.desc(), guilds.c.id)
        .limit(LISTED_MAX)
    ),
    into=DiscoverableRow,
)


async def select_metadata(reader: Reader, guild_id: GuildId) -> MetadataRow:
    """Read what a guild is listed by; that of a guild which has chosen nothing if it has no row."""
    return await reader.one(_select_metadata, guild_id=guild_id) or MetadataRow(guild_id)


async def upsert_metadata(tx: Transaction, row: MetadataRow) -> None:
    """Store what a guild is listed by."""
    await tx.execute(
        _upsert_metadata,
        guild_id=row.guild_id,
        primary_category_id=row.primary_category_id,
        keywords=row.keywords,
    )


async def select_discoverable(reader: Reader) -> list[DiscoverableRow]:
    """Read the guilds with the feature DISCOVERABLE, those with the most members first."""
    return await reader.all(_select_discoverable)
