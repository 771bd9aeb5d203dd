"""Read states over HTTP (topics: read state)."""

from moothall.api.access import PERSON
from moothall.api.context import Context
from moothall.api.endpoint import delete, post
from moothall.objects.ids import ChannelId, GuildId, MessageId, Snowflake
from moothall.objects.read_state import AckToken
from moothall.resources.read_state import operations
from moothall.resources.read_state.access import PERSON_INSIDE
from moothall.resources.read_state.events import ChannelPinsAck, GuildFeatureAck, MessageAck, UserNonChannelAck
from moothall.resources.read_state.operations import ACK_EVENTS
from moothall.resources.read_state.requests import AckBulk, AckFeature, AckMessage, DeleteReadState


@post("/channels/{channel_id}/messages/{message_id}/ack", permission=PERSON_INSIDE, fires=(MessageAck,))
async def ack_message(ctx: Context, channel_id: ChannelId, message_id: MessageId, body: AckMessage) -> AckToken:
    """Mark a channel as read up to a message."""
    await operations.acknowledge_message(ctx, message_id, body)
    return AckToken()


@delete("/channels/{read_state_id}/messages/ack", permission=PERSON)
async def delete_read_state(ctx: Context, read_state_id: Snowflake, body: DeleteReadState) -> None:
    """Delete the read state of a channel, which need not exist any more, or of another resource."""
    await operations.delete_read_state(ctx, read_state_id, body.read_state_type)


@post("/channels/{channel_id}/pins/ack", permission=PERSON_INSIDE, fires=(ChannelPinsAck,))
async def ack_pins(ctx: Context, channel_id: ChannelId) -> None:
    """Mark the pins of a channel as seen."""
    await operations.acknowledge_pins(ctx)


@post("/guilds/{guild_id}/ack", permission=PERSON_INSIDE, fires=ACK_EVENTS)
async def ack_guild(ctx: Context, guild_id: GuildId) -> None:
    """Mark all channels of a guild that the caller may view as read, and its scheduled events as seen."""
    await operations.acknowledge_guild(ctx)


@post("/guilds/{guild_id}/ack/{read_state_type}/{entity_id}", permission=PERSON_INSIDE, fires=(GuildFeatureAck,))
async def ack_guild_feature(
    ctx: Context, guild_id: GuildId, read_state_type: str, entity_id: Snowflake, body: AckFeature
) -> AckToken:
    """Mark the scheduled events, home or onboarding of a guild as seen up to an entity."""
    await operations.acknowledge_guild_feature(ctx, read_state_type, entity_id)
    return AckToken()


@post("/users/@me/{read_state_type}/{entity_id}/ack", permission=PERSON, fires=(UserNonChannelAck,))
async def ack_user_feature(ctx: Context, read_state_type: str, entity_id: Snowflake, body: AckFeature) -> AckToken:
    """Mark the caller's notifications or message requests as seen up to an entity."""
    await operations.acknowledge_user_feature(ctx, read_state_type, entity_id)
    return AckToken()


@post("/read-states/ack-bulk", permission=PERSON, fires=ACK_EVENTS)
async def ack_bulk(ctx: Context, body: AckBulk) -> None:
    """Update up to 100 read states of the caller."""
    await operations.acknowledge_several(ctx, body.read_states)
