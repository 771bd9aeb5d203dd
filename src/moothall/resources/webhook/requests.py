"""Request bodies of webhooks and their messages."""

from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.embed import url_error
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError
from moothall.objects.ids import ChannelId, TagId
from moothall.objects.images import ImageData
from moothall.objects.text import clean_name
from moothall.resources.message.requests import MessageFields

_SCHEMES: Final = ("http", "https")

Name = Annotated[str, Meta(min_length=limits.WEBHOOK_NAME_MIN, max_length=limits.WEBHOOK_NAME_MAX)]


class CreateWebhook(Struct, frozen=True, kw_only=True):
    """The body of Create Webhook."""

    name: Name
    avatar: ImageData | UnsetType | None = UNSET


class ModifyWebhookWithToken(Struct, frozen=True, kw_only=True):
    """The body of Modify Webhook with Token; absent fields stay."""

    name: Name | UnsetType = UNSET
    avatar: ImageData | UnsetType | None = UNSET


class ModifyWebhook(ModifyWebhookWithToken, frozen=True, kw_only=True):
    """The body of Modify Webhook; absent fields stay."""

    channel_id: ChannelId | UnsetType | None = UNSET


class ExecuteWebhook(MessageFields, frozen=True, kw_only=True):
    """The body of Execute Webhook; null is the same as absent."""

    username: str | None = None
    """Overrides the webhook's name, unless empty."""
    avatar_url: str | None = None
    """Overrides the webhook's avatar, unless empty."""
    thread_name: Annotated[str, Meta(max_length=limits.THREAD_NAME_MAX)] | None = None
    """In a forum, the name of a thread to start with the message, unless empty."""
    applied_tags: Annotated[list[TagId], Meta(max_length=limits.THREAD_TAGS_MAX)] | None = None

    def check_shape(self, form_errors: FormErrors) -> None:
        """Check also `avatar_url` and the length of `username`; reserved words are a setting, checked later."""
        super().check_shape(form_errors)
        self.check_avatar(form_errors)
        if self.username and len(clean_name(self.username)) > limits.WEBHOOK_NAME_MAX:
            form_errors.add("username", *FieldError.length(limits.WEBHOOK_NAME_MIN, limits.WEBHOOK_NAME_MAX))

    def check_avatar(self, form_errors: FormErrors) -> None:
        """Add an error if `avatar_url` is not a valid URL."""
        if not self.avatar_url:
            return
        if len(self.avatar_url) > limits.EMBED_URL_MAX:
            form_errors.add("avatar_url", *FieldError.length(None, limits.EMBED_URL_MAX))
        elif error := url_error(self.avatar_url, _SCHEMES):
            form_errors.add("avatar_url", *error)
