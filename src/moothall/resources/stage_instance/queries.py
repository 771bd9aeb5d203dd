"""SQL of stage instances."""

from msgspec import Struct, structs

from moothall.objects.ids import ChannelId, GuildId, ScheduledEventId, Snowflake, StageInstanceId, UserId
from moothall.objects.stage_instance import StageInstance
from moothall.storage.database import Query, Reader, Transaction, insert_ignore, update_columns
from moothall.storage.sql import bindparam, delete, func, select
from moothall.storage.tables import stage_instances, voice_states

_KEY = ("guild_id", "channel_id")
_MAX_SPEAKERS = 50
"""Speakers that `select_speakers` returns at most."""


class StageRow(Struct):
    """A row of `stage_instances`."""

    guild_id: GuildId
    channel_id: ChannelId
    id: StageInstanceId
    topic: str
    privacy_level: int
    discoverable_disabled: bool
    guild_scheduled_event_id: ScheduledEventId | None
    opened_by: UserId


_of_guild = stage_instances.c.guild_id == bindparam("guild_id")
_of_channel = _of_guild & (stage_instances.c.channel_id == bindparam("channel_id"))
_select_stage = Query(lambda: select(stage_instances).where(_of_channel), into=StageRow)
_select_stages = Query(lambda: select(stage_instances).where(_of_guild).order_by(stage_instances.c.id), into=StageRow)
_insert_stage = Query(lambda: insert_ignore(stage_instances, key=_KEY))
_delete_stage = Query(lambda: delete(stage_instances).where(_of_channel, stage_instances.c.id == bindparam("stage_id")))
_count_speakers = Query(
    lambda: (
        select(func.count())
        .select_from(voice_states)
        .where(voice_states.c.channel_id == bindparam("channel_id"), voice_states.c.suppress.is_(False))
    )
)

_select_speakers = Query(
    lambda: (
        select(voice_states.c.user_id)
        .where(voice_states.c.channel_id == bindparam("channel_id"), voice_states.c.suppress.is_(False))
        .order_by(voice_states.c.user_id)
        .limit(_MAX_SPEAKERS)
    )
)


async def select_stage(reader: Reader, guild_id: GuildId, channel_id: ChannelId) -> StageRow | None:
    """Read the live stage of a channel; None if there is none."""
    return await reader.one(_select_stage, guild_id=guild_id, channel_id=channel_id)


async def select_stages(reader: Reader, guild_id: GuildId) -> list[StageRow]:
    """Read every live stage of a guild by ascending id: at most one for each channel."""
    return await reader.all(_select_stages, guild_id=guild_id)


async def insert_stage(tx: Transaction, row: StageRow) -> bool:
    """Store a new live stage; False if the channel has one."""
    return bool(await tx.execute(_insert_stage, **structs.asdict(row)))


async def update_stage(tx: Transaction, row: StageRow, **values: object) -> None:
    """Set some columns of a live stage."""
    query = update_columns(stage_instances, key=_KEY, columns=frozenset(values))
    await tx.execute(query, guild_id=row.guild_id, channel_id=row.channel_id, **values)


async def delete_stage(tx: Transaction, row: StageRow) -> bool:
    """Delete a live stage; False if there was none with this id."""
    values = {"guild_id": row.guild_id, "channel_id": row.channel_id, "stage_id": row.id}
    return bool(await tx.execute(_delete_stage, **values))


async def count_speakers(reader: Reader, channel_id: ChannelId) -> int:
    """Count the users in a stage channel who are not suppressed."""
    return int(await reader.scalar(_count_speakers, channel_id=channel_id) or 0)


async def select_speakers(reader: Reader, channel_id: ChannelId) -> list[UserId]:
    """Read the users in a stage channel who are not suppressed by ascending id, at most `_MAX_SPEAKERS`."""
    return [UserId(Snowflake(user_id)) for (user_id,) in await reader.all(_select_speakers, channel_id=channel_id)]


def stage_object(row: StageRow) -> StageInstance:
    """The API object of a live stage."""
    return StageInstance(
        id=row.id,
        guild_id=row.guild_id,
        channel_id=row.channel_id,
        topic=row.topic,
        privacy_level=row.privacy_level,
        discoverable_disabled=row.discoverable_disabled,
        guild_scheduled_event_id=row.guild_scheduled_event_id,
    )
