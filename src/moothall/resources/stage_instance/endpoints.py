"""Stage instances over HTTP (resources: stage instance)."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.api.access import MEMBER, SIGNED_IN
from moothall.api.context import Context
from moothall.api.endpoint import delete, get, patch, post
from moothall.objects import limits
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError
from moothall.objects.ids import ChannelId, ScheduledEventId
from moothall.objects.stage_instance import StageInstance
from moothall.objects.text import clean_name
from moothall.resources.message.events import MessageCreate
from moothall.resources.stage_instance import operations
from moothall.resources.stage_instance.events import StageInstanceUpdate
from moothall.resources.stage_instance.operations import (
    CREATE_STAGE_INSTANCE_EVENTS,
    DELETE_STAGE_INSTANCE_EVENTS,
    STAGE_MODERATOR,
)
from moothall.resources.stage_instance.queries import stage_object

Topic = Annotated[str, Meta(min_length=1, max_length=limits.STAGE_TOPIC_MAX)]


class CreateStageInstance(Struct, frozen=True, kw_only=True):
    """A stage to open; a null field has its default."""

    channel_id: ChannelId
    topic: Topic
    privacy_level: Literal[1, 2] | UnsetType | None = UNSET
    send_start_notification: bool | UnsetType | None = UNSET
    guild_scheduled_event_id: ScheduledEventId | UnsetType | None = UNSET

    def check(self, form_errors: FormErrors) -> None:
        """Refuse a topic of blanks."""
        _check_topic(self.topic, form_errors)


class ModifyStageInstance(Struct, frozen=True, kw_only=True):
    """Changes to a live stage; absent fields stay as they are."""

    topic: Topic | UnsetType = UNSET
    privacy_level: Literal[1, 2] | UnsetType = UNSET

    def check(self, form_errors: FormErrors) -> None:
        """Refuse a topic of blanks."""
        if isinstance(self.topic, str):
            _check_topic(self.topic, form_errors)


@post("/stage-instances", permission=SIGNED_IN, audit_reason=True, fires=CREATE_STAGE_INSTANCE_EVENTS)
async def create_stage_instance(ctx: Context, body: CreateStageInstance) -> StageInstance:
    """Open the stage of a stage channel. Only for its moderators."""
    stage = await operations.create_stage_instance(
        ctx,
        body.channel_id,
        topic=clean_name(body.topic),
        privacy_level=body.privacy_level or None,
        event_id=body.guild_scheduled_event_id or None,
        mention_everyone=bool(body.send_start_notification),
    )
    return stage_object(stage)


@get("/stage-instances/{channel_id}", permission=MEMBER)
async def get_stage_instance(ctx: Context, channel_id: ChannelId) -> StageInstance:
    """Get the live stage of a stage channel; 404/10067 if there is none."""
    return stage_object(await operations.get_stage(ctx))


@patch(
    "/stage-instances/{channel_id}",
    permission=STAGE_MODERATOR,
    audit_reason=True,
    fires=(StageInstanceUpdate, MessageCreate),
)
async def modify_stage_instance(ctx: Context, channel_id: ChannelId, body: ModifyStageInstance) -> StageInstance:
    """Change the topic or privacy level of a live stage."""
    topic = clean_name(body.topic) if isinstance(body.topic, str) else None
    return stage_object(
        await operations.modify_stage_instance(ctx, topic=topic, privacy_level=body.privacy_level or None)
    )


@delete(
    "/stage-instances/{channel_id}", permission=STAGE_MODERATOR, audit_reason=True, fires=DELETE_STAGE_INSTANCE_EVENTS
)
async def delete_stage_instance(ctx: Context, channel_id: ChannelId) -> None:
    """Close a live stage, and end the scheduled event that it was opened for."""
    await operations.delete_stage_instance(ctx)


def _check_topic(topic: str, form_errors: FormErrors) -> None:
    if not clean_name(topic):
        form_errors.add("topic", *FieldError.length(1, limits.STAGE_TOPIC_MAX))
