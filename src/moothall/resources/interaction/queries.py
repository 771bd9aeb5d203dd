"""The SQL of interactions and of ephemeral messages."""

from msgspec import Struct

from moothall.objects.ids import ApplicationId, ChannelId, GuildId, InteractionId, MessageId, UserId
from moothall.objects.interaction import InteractionState
from moothall.objects.json_object import JsonObject
from moothall.objects.wire import Timestamp
from moothall.resources.message.attachment.queries import drop_files_of
from moothall.storage.database import Query, Reader, Transaction, in_list, update_columns
from moothall.storage.sql import bindparam, delete, insert, select, update
from moothall.storage.tables import channel_activity, ephemeral_messages, interactions, messages


class InteractionRow(Struct):
    """A row of `interactions`.

    `source_*` is the message with the component that was used, `response_*` the message that responded to it. A room id
    is what a message is stored under: its channel's id, or for ephemeral messages the interaction's id.
    """

    id: InteractionId
    application_id: ApplicationId
    user_id: UserId
    guild_id: GuildId | None
    channel_id: ChannelId
    type: int
    token_hash: bytes
    state: int
    callback: int | None
    nonce: str | None
    name: str | None
    owners: dict[str, str]
    metadata: JsonObject
    source_id: MessageId | None
    source_room_id: ChannelId | None
    response_id: MessageId | None
    response_room_id: ChannelId | None
    modal: JsonObject | None
    followups: int
    created_at: Timestamp
    session_id: str | None = None
    """The gateway session of the client that created it, as the client says."""


class EphemeralRow(Struct):
    """A row of `ephemeral_messages`: a message stored under the id of its interaction, and the user who sees it."""

    id: MessageId
    interaction_id: InteractionId
    channel_id: ChannelId
    application_id: ApplicationId
    user_id: UserId


_select_interaction = Query(
    lambda: select(interactions).where(interactions.c.id == bindparam("interaction_id")), into=InteractionRow
)
_select_interaction_by_token = Query(
    lambda: select(interactions).where(
        interactions.c.application_id == bindparam("application_id"),
        interactions.c.token_hash == bindparam("token_hash"),
    ),
    into=InteractionRow,
)
_insert_interaction = Query(lambda: insert(interactions))
_update_waiting_state = Query(
    lambda: (
        update(interactions)
        .where(interactions.c.id == bindparam("interaction_id"), interactions.c.state == int(InteractionState.WAITING))
        .values(state=bindparam("new_state"))
    )
)
_clear_modal = Query(
    lambda: (
        update(interactions)
        .where(interactions.c.id == bindparam("interaction_id"), interactions.c.modal.is_not(None))
        .values(modal=None)
    )
)
_select_old = Query(
    lambda: select(interactions.c.id).where(interactions.c.created_at < bindparam("before")).limit(bindparam("maximum"))
)
_delete_interactions = Query(lambda: delete(interactions).where(in_list(interactions.c.id, "interaction_ids")))
_insert_ephemeral = Query(lambda: insert(ephemeral_messages))
_select_ephemeral = Query(
    lambda: select(ephemeral_messages).where(ephemeral_messages.c.id == bindparam("message_id")), into=EphemeralRow
)
_select_rooms = Query(
    lambda: (
        select(ephemeral_messages.c.interaction_id)
        .where(ephemeral_messages.c.interaction_id < bindparam("before_id"))
        .limit(bindparam("maximum"))
    )
)
_delete_rooms = Query(
    lambda: delete(ephemeral_messages).where(in_list(ephemeral_messages.c.interaction_id, "interaction_ids"))
)
_delete_room_messages = Query(lambda: delete(messages).where(in_list(messages.c.channel_id, "interaction_ids")))
_delete_room_activity = Query(
    lambda: delete(channel_activity).where(in_list(channel_activity.c.channel_id, "interaction_ids"))
)


async def select_interaction(reader: Reader, interaction_id: InteractionId) -> InteractionRow | None:
    """Select an interaction; None if it is unknown."""
    return await reader.one(_select_interaction, interaction_id=interaction_id)


async def select_interaction_by_token(
    reader: Reader, application_id: ApplicationId, token_hash: bytes
) -> InteractionRow | None:
    """Select the interaction of an application with a token; None if there is none."""
    return await reader.one(_select_interaction_by_token, application_id=application_id, token_hash=token_hash)


async def insert_interaction(tx: Transaction, row: InteractionRow) -> None:
    """Insert an interaction."""
    await tx.execute(_insert_interaction, **{name: getattr(row, name) for name in row.__struct_fields__})


async def update_waiting_state(tx: Transaction, interaction_id: InteractionId, state: InteractionState) -> bool:
    """Update the state of an interaction that is WAITING; False if it is not."""
    return await tx.execute(_update_waiting_state, interaction_id=interaction_id, new_state=int(state)) == 1


async def clear_modal(tx: Transaction, interaction_id: InteractionId) -> bool:
    """Set the modal of an interaction to null; False if it already was."""
    return await tx.execute(_clear_modal, interaction_id=interaction_id) == 1


async def update_interaction(tx: Transaction, interaction_id: InteractionId, **columns: object) -> None:
    """Update columns by name."""
    await tx.execute(
        update_columns(interactions, key=("id",), columns=frozenset(columns)), id=interaction_id, **columns
    )


async def insert_ephemeral(tx: Transaction, row: EphemeralRow) -> None:
    """Insert the user and the room of an ephemeral message."""
    await tx.execute(_insert_ephemeral, **{name: getattr(row, name) for name in row.__struct_fields__})


async def select_ephemeral(reader: Reader, message_id: MessageId) -> EphemeralRow | None:
    """Select the user and the room of an ephemeral message; None for any other message."""
    return await reader.one(_select_ephemeral, message_id=message_id)


async def delete_interactions_before(tx: Transaction, before: Timestamp, maximum: int) -> int:
    """Delete up to `maximum` interactions created before a time; how many were deleted."""
    interaction_ids = [row[0] for row in await tx.all(_select_old, before=before, maximum=maximum)]
    if interaction_ids:
        await tx.execute(_delete_interactions, interaction_ids=interaction_ids)
    return len(interaction_ids)


async def delete_ephemeral_before(tx: Transaction, before_id: InteractionId, maximum: int) -> int:
    """Delete up to `maximum` ephemeral messages and submitted files of interactions before an id, room by room.

    Returns how many rooms were deleted.
    """
    rows = await tx.all(_select_rooms, before_id=before_id, maximum=maximum)
    interaction_ids = list({row[0] for row in rows})
    if interaction_ids:
        await drop_files_of(tx, [ChannelId(each) for each in interaction_ids])
        for query in (_delete_room_messages, _delete_room_activity, _delete_rooms):
            await tx.execute(query, interaction_ids=interaction_ids)
    return len(interaction_ids)
