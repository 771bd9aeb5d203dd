"""What requests say of webhooks, and of the messages that they post."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.ids import ChannelId, TagId
from moothall.objects.images import ImageData
from moothall.resources.message.drafts import MessageFields

Name = Annotated[str, Meta(min_length=limits.WEBHOOK_NAME_MIN, max_length=limits.WEBHOOK_NAME_MAX)]


class CreateWebhook(Struct, frozen=True, kw_only=True):
    """The body of Create Webhook."""

    name: Name
    avatar: ImageData | UnsetType | None = UNSET


class ModifyWebhookWithToken(Struct, frozen=True, kw_only=True):
    """The body of Modify Webhook with Token: everything is optional, and the channel stays."""

    name: Name | UnsetType = UNSET
    avatar: ImageData | UnsetType | None = UNSET


class ModifyWebhook(ModifyWebhookWithToken, frozen=True, kw_only=True):
    """The body of Modify Webhook: everything is optional; `channel_id` moves the webhook."""

    channel_id: ChannelId | UnsetType | None = UNSET


class ExecuteWebhook(MessageFields, frozen=True, kw_only=True):
    """The body of Execute Webhook; null is like absence."""

    username: str | None = None
    """Shown instead of the webhook's name; an empty one is like none."""
    avatar_url: str | None = None
    """Shown instead of the webhook's avatar; an empty one is like none."""
    thread_name: Annotated[str, Meta(max_length=limits.THREAD_NAME_MAX)] | None = None
    """In a forum, the thread that the message begins; an empty one is like none."""
    applied_tags: Annotated[list[TagId], Meta(max_length=limits.THREAD_TAGS_MAX)] | None = None
