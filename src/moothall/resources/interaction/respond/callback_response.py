"""Build the body of Create Interaction Response with `with_response`."""

from msgspec import Struct

from moothall.objects.ids import ChannelId, MessageId
from moothall.objects.interaction import ActivityInstance, CallbackInteraction, CallbackResource, CallbackType
from moothall.objects.wire import encode
from moothall.resources.interaction.queries import InteractionRow


class InteractionMessage(Struct, frozen=True):
    """A response or followup that was created, with the room id that it is stored under; `data` is its JSON."""

    id: MessageId
    room_id: ChannelId
    data: bytes
    ephemeral: bool
    loading: bool


class ResponseResult(Struct, frozen=True, kw_only=True):
    """What a response created: a message, an edit of the source message, an Activity instance, or nothing."""

    message: InteractionMessage | None = None
    updated: bytes | None = None
    """The source message as JSON."""
    activity_instance_id: str | None = None


def build_callback_response(row: InteractionRow, response_type: CallbackType, result: ResponseResult) -> bytes:
    """The Interaction Callback Response object as JSON, with the message as it is stored."""
    interaction = CallbackInteraction(id=row.id, type=row.type)
    resource: bytes | None = None
    kind = int(response_type)
    if result.message is not None:
        message = result.message
        interaction = CallbackInteraction(
            id=row.id,
            type=row.type,
            response_message_id=message.id,
            response_message_loading=message.loading,
            response_message_ephemeral=message.ephemeral,
        )
        if not message.loading:
            # A deferred response has no resource: the public description knows none of that type.
            resource = b'{"type":%d,"message":%b}' % (kind, message.data)
    elif result.updated is not None and row.source_id is not None:
        interaction = CallbackInteraction(
            id=row.id,
            type=row.type,
            response_message_id=row.source_id,
            response_message_loading=False,
            response_message_ephemeral=row.source_room_id != row.channel_id,
        )
        resource = b'{"type":%d,"message":%b}' % (kind, result.updated)
    elif result.activity_instance_id is not None:
        instance_id = result.activity_instance_id
        interaction = CallbackInteraction(id=row.id, type=row.type, activity_instance_id=instance_id)
        resource = encode(CallbackResource(type=kind, activity_instance=ActivityInstance(instance_id)))
    resource_field = b"" if resource is None else b',"resource":' + resource
    return b'{"interaction":%b%b}' % (encode(interaction), resource_field)
