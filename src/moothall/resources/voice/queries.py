"""The SQL of voice states, and of the statuses of voice channels."""

from collections.abc import Sequence

from msgspec import UNSET, Struct, UnsetType, structs

from moothall.objects.ids import ChannelId, GuildId, Snowflake, UserId
from moothall.objects.member import Member, MemberFlags
from moothall.objects.voice import VoiceState
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list, update_columns, upsert
from moothall.storage.sql import bindparam, delete, func, select
from moothall.storage.tables import voice_states, voice_statuses


class VoiceStateRow(Struct):
    """A row of `voice_states`."""

    guild_id: GuildId
    user_id: UserId
    channel_id: ChannelId
    session_id: str
    self_deaf: bool
    self_mute: bool
    self_stream: bool
    self_video: bool
    suppress: bool
    request_to_speak_timestamp: Timestamp | None
    node: str
    started_at: Timestamp | None
    """When the first of those in the channel entered it, the same for all of them; None if that is not known."""
    connected_at: Timestamp | None = None
    """When the user entered voice in the guild; a move keeps it. None for states of older versions."""


_KEY = ("guild_id", "user_id")
_of_user = (voice_states.c.guild_id == bindparam("guild_id")) & (voice_states.c.user_id == bindparam("user_id"))

_select_state = Query(lambda: select(voice_states).where(_of_user), into=VoiceStateRow)
_select_states = Query(
    lambda: select(voice_states).where(
        voice_states.c.guild_id == bindparam("guild_id"), in_list(voice_states.c.user_id, "user_ids")
    ),
    into=VoiceStateRow,
)
_select_of_session = Query(
    lambda: select(voice_states).where(
        voice_states.c.user_id == bindparam("user_id"), voice_states.c.session_id == bindparam("session_id")
    ),
    into=VoiceStateRow,
)
_select_of_user = Query(
    lambda: select(voice_states).where(voice_states.c.user_id == bindparam("user_id")), into=VoiceStateRow
)
_select_of_node = Query(
    lambda: select(voice_states).where(voice_states.c.node == bindparam("node")), into=VoiceStateRow
)
_select_nodes = Query(lambda: select(voice_states.c.node).distinct())
_select_in_channel = Query(
    lambda: select(voice_states).where(voice_states.c.channel_id == bindparam("channel_id")), into=VoiceStateRow
)
_count_in_channel = Query(
    lambda: select(func.count()).select_from(voice_states).where(voice_states.c.channel_id == bindparam("channel_id"))
)
_select_occupied = Query(
    lambda: select(voice_states.c.channel_id).where(in_list(voice_states.c.channel_id, "channel_ids")).distinct()
)
_select_start = Query(
    lambda: select(voice_states.c.started_at).where(voice_states.c.channel_id == bindparam("channel_id")).limit(1)
)
_select_starts = Query(
    lambda: (
        select(voice_states.c.channel_id, func.min(voice_states.c.started_at))
        .where(voice_states.c.guild_id == bindparam("guild_id"), voice_states.c.started_at.is_not(None))
        .group_by(voice_states.c.channel_id)
    )
)
_delete_state = Query(lambda: delete(voice_states).where(_of_user))
_delete_states = Query(
    lambda: delete(voice_states).where(
        voice_states.c.guild_id == bindparam("guild_id"), in_list(voice_states.c.user_id, "user_ids")
    )
)
_delete_of_node = Query(lambda: delete(voice_states).where(voice_states.c.node == bindparam("node")))
_upsert_state = Query(
    lambda: upsert(
        voice_states, key=_KEY, update=[name for name in VoiceStateRow.__struct_fields__ if name not in _KEY]
    )
)
_of_status = (voice_statuses.c.guild_id == bindparam("guild_id")) & (
    voice_statuses.c.channel_id == bindparam("channel_id")
)
_select_status = Query(lambda: select(voice_statuses.c.status).where(_of_status))
_select_statuses = Query(
    lambda: select(voice_statuses.c.channel_id, voice_statuses.c.status).where(
        voice_statuses.c.guild_id == bindparam("guild_id")
    )
)
_upsert_status = Query(lambda: upsert(voice_statuses, key=("guild_id", "channel_id"), update=("status",)))
_delete_status = Query(lambda: delete(voice_statuses).where(_of_status))


async def get_voice_state(reader: Reader, guild_id: GuildId, user_id: UserId) -> VoiceStateRow | None:
    """Select a user's voice state in a guild; None if there is none."""
    return await reader.one(_select_state, guild_id=guild_id, user_id=user_id)


async def select_voice_states(reader: Reader, guild_id: GuildId, user_ids: Sequence[UserId]) -> list[VoiceStateRow]:
    """Select the voice states of several users in a guild."""
    return await reader.all(_select_states, guild_id=guild_id, user_ids=list(user_ids))


async def select_states_of_session(reader: Reader, user_id: UserId, session_id: str) -> list[VoiceStateRow]:
    """Select the voice states of a gateway session in all guilds."""
    return await reader.all(_select_of_session, user_id=user_id, session_id=session_id)


async def select_states_of_user(reader: Reader, user_id: UserId) -> list[VoiceStateRow]:
    """Select the voice states of a user in all guilds."""
    return await reader.all(_select_of_user, user_id=user_id)


async def select_states_of_node(reader: Reader, node: str) -> list[VoiceStateRow]:
    """Select the voice states of all sessions of a gateway node."""
    return await reader.all(_select_of_node, node=node)


async def select_nodes(reader: Reader) -> list[str]:
    """Select the gateway nodes with any voice state."""
    return [node for (node,) in await reader.all(_select_nodes)]


async def select_states_in_channel(reader: Reader, channel_id: ChannelId) -> list[VoiceStateRow]:
    """Select the voice states in a channel."""
    return await reader.all(_select_in_channel, channel_id=channel_id)


async def count_in_channel(reader: Reader, channel_id: ChannelId) -> int:
    """Count the voice states in a channel."""
    return int(await reader.scalar(_count_in_channel, channel_id=channel_id) or 0)


async def select_occupied(reader: Reader, channel_ids: Sequence[ChannelId]) -> set[ChannelId]:
    """Select those of the voice channels that anybody is in."""
    return {ChannelId(Snowflake(row[0])) for row in await reader.all(_select_occupied, channel_ids=list(channel_ids))}


async def select_start(reader: Reader, channel_id: ChannelId) -> tuple[Timestamp | None] | None:
    """Select when the first of those in a channel entered it, which may be unknown; None if it is empty."""
    return await reader.one(_select_start, channel_id=channel_id)


async def select_starts(reader: Reader, guild_id: GuildId) -> dict[ChannelId, Timestamp]:
    """Select when the first of those in each voice channel of a guild entered it."""
    rows = await reader.all(_select_starts, guild_id=guild_id)
    return {ChannelId(Snowflake(row[0])): Timestamp(row[1]) for row in rows}


async def upsert_voice_state(tx: Transaction, row: VoiceStateRow) -> None:
    """Insert or replace a voice state."""
    await tx.execute(_upsert_state, **{name: getattr(row, name) for name in row.__struct_fields__})


async def update_voice_state(tx: Transaction, guild_id: GuildId, user_id: UserId, **values: object) -> None:
    """Update columns of a voice state."""
    query = update_columns(voice_states, key=_KEY, columns=frozenset(values))
    await tx.execute(query, guild_id=guild_id, user_id=user_id, **values)


async def delete_voice_state(tx: Transaction, guild_id: GuildId, user_id: UserId) -> None:
    """Delete a user's voice state in a guild."""
    await tx.execute(_delete_state, guild_id=guild_id, user_id=user_id)


async def delete_voice_states(tx: Transaction, guild_id: GuildId, user_ids: Sequence[UserId]) -> None:
    """Delete the voice states of several users in a guild."""
    await tx.execute(_delete_states, guild_id=guild_id, user_ids=list(user_ids))


async def delete_states_of_node(tx: Transaction, node: str) -> None:
    """Delete the voice states of all sessions of a gateway node."""
    await tx.execute(_delete_of_node, node=node)


def voice_state_object(
    row: VoiceStateRow, member: Member | UnsetType, *, deaf: bool, mute: bool, left: bool = False
) -> VoiceState:
    """Build a voice state object; `deaf` and `mute` are the member's. With `left` its channel is null.

    `joined_at` of a guest is null.
    """
    if member is not UNSET and member.flags & MemberFlags.IS_GUEST:
        member = structs.replace(member, joined_at=None)
    return VoiceState(
        guild_id=row.guild_id,
        channel_id=None if left else row.channel_id,
        user_id=row.user_id,
        member=member,
        session_id=row.session_id,
        deaf=deaf,
        mute=mute,
        self_deaf=row.self_deaf,
        self_mute=row.self_mute,
        self_stream=row.self_stream,
        self_video=row.self_video,
        suppress=False if left else row.suppress,
        request_to_speak_timestamp=None if left else row.request_to_speak_timestamp,
        connected_at=UNSET if left or row.connected_at is None else row.connected_at // 1000,
    )


async def select_voice_status(reader: Reader, guild_id: GuildId, channel_id: ChannelId) -> str | None:
    """The status of a voice channel; None without one."""
    status: str | None = await reader.scalar(_select_status, guild_id=guild_id, channel_id=channel_id)
    return status


async def select_voice_statuses(reader: Reader, guild_id: GuildId) -> dict[ChannelId, str]:
    """The statuses of a guild's voice channels."""
    return {ChannelId(Snowflake(row[0])): row[1] for row in await reader.all(_select_statuses, guild_id=guild_id)}


async def upsert_voice_status(tx: Transaction, guild_id: GuildId, channel_id: ChannelId, status: str) -> None:
    """Set the status of a voice channel."""
    await tx.execute(_upsert_status, guild_id=guild_id, channel_id=channel_id, status=status)


async def delete_voice_status(tx: Transaction, guild_id: GuildId, channel_id: ChannelId) -> None:
    """Delete the status of a voice channel, if it has one."""
    await tx.execute(_delete_status, guild_id=guild_id, channel_id=channel_id)
