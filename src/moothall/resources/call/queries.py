"""The SQL of calls."""

from collections.abc import Sequence

from msgspec import Struct

from moothall.objects.call import Call, MessageCall
from moothall.objects.channel import ConsentStatus
from moothall.objects.ids import ChannelId, MessageId, Snowflake, UserId
from moothall.objects.voice import VoiceState
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list, upsert
from moothall.storage.sql import bindparam, delete, insert, select, update
from moothall.storage.tables import call_voice_states, calls, channel_recipients, message_calls


class CallRow(Struct):
    """A row of `calls`."""

    channel_id: ChannelId
    message_id: MessageId
    region: str
    ringing: dict[str, int]
    """Since when each user is rung, in milliseconds, by their id."""

    @property
    def ringing_ids(self) -> list[UserId]:
        """The users who are being rung, lowest id first."""
        return sorted(UserId(Snowflake.from_wire(user_id)) for user_id in self.ringing)


class CallVoiceStateRow(Struct):
    """A row of `call_voice_states`."""

    user_id: UserId
    channel_id: ChannelId
    session_id: str
    self_deaf: bool
    self_mute: bool
    self_video: bool
    node: str


class _MessageCallRow(Struct):
    """A row of `message_calls`."""

    channel_id: ChannelId
    message_id: MessageId
    participants: list[UserId]
    ended_at: Timestamp | None


_of_call = calls.c.channel_id == bindparam("channel_id")
_of_message = (message_calls.c.channel_id == bindparam("channel_id")) & (
    message_calls.c.message_id == bindparam("message_id")
)
_of_user = call_voice_states.c.user_id == bindparam("user_id")

_select_call = Query(lambda: select(calls).where(_of_call), into=CallRow)
_select_calls_of_user = Query(
    lambda: (
        select(calls)
        .select_from(calls.join(channel_recipients, channel_recipients.c.channel_id == calls.c.channel_id))
        .where(
            channel_recipients.c.user_id == bindparam("user_id"),
            channel_recipients.c.consent == int(ConsentStatus.ACCEPTED),
        )
        .order_by(calls.c.channel_id)
    ),
    into=CallRow,
)
_insert_call = Query(lambda: insert(calls))
_update_ringing = Query(lambda: update(calls).where(_of_call).values(ringing=bindparam("value")))
_update_region = Query(lambda: update(calls).where(_of_call).values(region=bindparam("value")))
_delete_call = Query(lambda: delete(calls).where(_of_call))

_select_message_calls = Query(
    lambda: select(message_calls).where(
        message_calls.c.channel_id == bindparam("channel_id"), in_list(message_calls.c.message_id, "message_ids")
    ),
    into=_MessageCallRow,
)
_insert_message_call = Query(lambda: insert(message_calls))
_update_participants = Query(lambda: update(message_calls).where(_of_message).values(participants=bindparam("value")))
_end_message_call = Query(lambda: update(message_calls).where(_of_message).values(ended_at=bindparam("moment")))

_select_state = Query(lambda: select(call_voice_states).where(_of_user), into=CallVoiceStateRow)
_select_states_in = Query(
    lambda: (
        select(call_voice_states)
        .where(in_list(call_voice_states.c.channel_id, "channel_ids"))
        .order_by(call_voice_states.c.user_id)
    ),
    into=CallVoiceStateRow,
)
_select_nodes = Query(lambda: select(call_voice_states.c.node).distinct())
_select_of_node = Query(
    lambda: (
        select(call_voice_states)
        .where(call_voice_states.c.node == bindparam("node"))
        .order_by(call_voice_states.c.user_id)
    ),
    into=CallVoiceStateRow,
)
_upsert_state = Query(
    lambda: upsert(
        call_voice_states,
        key=("user_id",),
        update=[name for name in CallVoiceStateRow.__struct_fields__ if name != "user_id"],
    )
)
_delete_state = Query(lambda: delete(call_voice_states).where(_of_user))


async def select_call(reader: Reader, channel_id: ChannelId) -> CallRow | None:
    """Select the call in a channel; None without one."""
    return await reader.one(_select_call, channel_id=channel_id)


async def insert_call(tx: Transaction, row: CallRow, participant_id: UserId) -> None:
    """Insert a call, and the one of its message with the first participant."""
    await tx.execute(
        _insert_call, channel_id=row.channel_id, message_id=row.message_id, region=row.region, ringing=row.ringing
    )
    await tx.execute(
        _insert_message_call,
        channel_id=row.channel_id,
        message_id=row.message_id,
        participants=[participant_id],
        ended_at=None,
    )


async def update_ringing(tx: Transaction, channel_id: ChannelId, ringing: dict[str, int]) -> None:
    """Set who is rung, and since when."""
    await tx.execute(_update_ringing, channel_id=channel_id, value=ringing)


async def update_region(tx: Transaction, channel_id: ChannelId, region: str) -> None:
    """Set the region of a call."""
    await tx.execute(_update_region, channel_id=channel_id, value=region)


async def delete_call(tx: Transaction, row: CallRow, ended_at: Timestamp) -> None:
    """Delete a call, and note when it ended with its message."""
    await tx.execute(_delete_call, channel_id=row.channel_id)
    await tx.execute(_end_message_call, channel_id=row.channel_id, message_id=row.message_id, moment=ended_at)


async def insert_participant(tx: Transaction, row: CallRow, user_id: UserId) -> bool:
    """Note that a user has been in a call; return False if they have been in it before."""
    known = (await select_message_calls(tx, row.channel_id, [row.message_id])).get(int(row.message_id))
    if known is None or user_id in known.participants:
        return False
    participants = [*known.participants, user_id]
    await tx.execute(_update_participants, channel_id=row.channel_id, message_id=row.message_id, value=participants)
    return True


async def select_message_calls(
    reader: Reader, channel_id: ChannelId, message_ids: Sequence[int]
) -> dict[int, MessageCall]:
    """Select the calls of messages, by the ids of the messages."""
    rows = await reader.all(_select_message_calls, channel_id=channel_id, message_ids=list(message_ids))
    return {
        int(row.message_id): MessageCall(participants=row.participants, ended_timestamp=row.ended_at) for row in rows
    }


async def get_call_voice_state(reader: Reader, user_id: UserId) -> CallVoiceStateRow | None:
    """Select in which call a user is; None for no call."""
    return await reader.one(_select_state, user_id=user_id)


async def select_states_in_calls(reader: Reader, channel_ids: Sequence[ChannelId]) -> list[CallVoiceStateRow]:
    """Select who is in the calls of some channels, lowest user id first."""
    return await reader.all(_select_states_in, channel_ids=list(channel_ids)) if channel_ids else []


async def select_call_nodes(reader: Reader) -> list[str]:
    """Select the gateway nodes with anyone in a call."""
    return [node for (node,) in await reader.all(_select_nodes)]


async def select_states_of_node(reader: Reader, node: str) -> list[CallVoiceStateRow]:
    """Select who is in a call with a session of a gateway node."""
    return await reader.all(_select_of_node, node=node)


async def upsert_call_voice_state(tx: Transaction, row: CallVoiceStateRow) -> None:
    """Insert or replace the state of a user."""
    await tx.execute(_upsert_state, **{name: getattr(row, name) for name in CallVoiceStateRow.__struct_fields__})


async def delete_call_voice_state(tx: Transaction, user_id: UserId) -> None:
    """Delete the state of a user."""
    await tx.execute(_delete_state, user_id=user_id)


async def select_calls_of_user(reader: Reader, user_id: UserId) -> list[Call]:
    """Select the calls in the direct messages and groups of a user, with who is in them."""
    rows = await reader.all(_select_calls_of_user, user_id=user_id)
    states = await select_states_in_calls(reader, [row.channel_id for row in rows])
    return [
        call_object(row, [voice_state(state) for state in states if state.channel_id == row.channel_id]) for row in rows
    ]


def call_object(row: CallRow, voice_states: list[VoiceState]) -> Call:
    """The call of a row."""
    return Call(
        channel_id=row.channel_id,
        message_id=row.message_id,
        region=row.region,
        ringing=row.ringing_ids,
        voice_states=voice_states,
    )


def voice_state(row: CallVoiceStateRow, *, left: bool = False) -> VoiceState:
    """The voice state of a row; `left` is that of a user who has left the call."""
    return VoiceState(
        channel_id=None if left else row.channel_id,
        user_id=row.user_id,
        session_id=row.session_id,
        self_deaf=row.self_deaf,
        self_mute=row.self_mute,
        self_video=row.self_video,
    )
