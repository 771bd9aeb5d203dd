"""Request bodies of threads (resources: channel, starting and modifying threads)."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.channel import Channel
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError
from moothall.objects.ids import TagId
from moothall.objects.message import Message
from moothall.objects.text import channel_name
from moothall.objects.user_settings import MuteConfig
from moothall.resources.message.requests import MessageFields

AutoArchive = Literal[60, 1440, 4320, 10080]
Name = Annotated[str, Meta(min_length=1, max_length=limits.THREAD_NAME_MAX)]
Tags = Annotated[list[TagId], Meta(max_length=limits.THREAD_TAGS_MAX)]


class StartThreadFromMessage(Struct, frozen=True, kw_only=True):
    """The body of Start Thread from Message; null is the same as absent."""

    name: Name
    auto_archive_duration: AutoArchive | None = None
    """In minutes."""
    rate_limit_per_user: Annotated[int, Meta(ge=0, le=limits.SLOWMODE_MAX)] | None = None
    """In seconds; defaults to the channel's `default_thread_rate_limit_per_user`."""

    def check(self, form_errors: FormErrors) -> None:
        """Check that the name is not empty without its invisible characters."""
        if not channel_name(self.name, text_like=False):
            form_errors.add("name", *FieldError.length(1, limits.THREAD_NAME_MAX))


class StartThread(StartThreadFromMessage, frozen=True, kw_only=True):
    """The body of Start Thread without Message, and of Start Thread in Forum or Media Channel."""

    type: Literal[10, 11, 12] | None = None
    """Defaults to a private thread; ignored in forums, whose threads are public."""
    invitable: bool | None = None
    applied_tags: Tags | None = None
    message: MessageFields | None = None
    """In a forum, the first message of the thread."""

    def check(self, form_errors: FormErrors) -> None:
        """Check the name, and the message as far as that needs no permissions."""
        super().check(form_errors)
        if self.message is not None:
            self.message.check_shape(form_errors.at("message"))


class ModifyThreadSettings(Struct, frozen=True, kw_only=True):
    """The body of Modify Thread Settings; null is the same as absent, but ends a mute's time in `mute_config`."""

    flags: Annotated[int, Meta(ge=0, le=15)] | None = None
    muted: bool | None = None
    mute_config: MuteConfig | UnsetType | None = UNSET


class StartedThread(Channel, frozen=True, kw_only=True):
    """The response of Start Thread: a channel; in a forum with the first message."""

    message: Message | None = None
