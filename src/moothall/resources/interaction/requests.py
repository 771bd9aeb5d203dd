"""Request bodies of interactions: from users' clients, and from applications."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects.ids import ApplicationId, ChannelId, GuildId, MessageId
from moothall.objects.interaction import CallbackType
from moothall.objects.json_object import JsonObject

Nonce = Annotated[str, Meta(max_length=64)] | int


class CreateInteraction(Struct, frozen=True, kw_only=True):
    """A new interaction; the fields of `data` depend on `type`."""

    type: Annotated[int, Meta(ge=2, le=5)]
    application_id: ApplicationId
    channel_id: ChannelId
    guild_id: GuildId | None = None
    session_id: Annotated[str, Meta(max_length=64)] | None = None
    nonce: Nonce | None = None
    message_id: MessageId | None = None
    message_flags: int | None = None
    data: JsonObject

    @property
    def nonce_text(self) -> str | None:
        """The nonce as text."""
        return None if self.nonce is None else str(self.nonce)


class InteractionResponse(Struct, frozen=True, kw_only=True):
    """An application's response; the fields of `data` depend on `type`."""

    type: CallbackType
    data: JsonObject | UnsetType | None = UNSET
