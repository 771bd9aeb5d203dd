"""Gateway events of interactions: to the application's bot, and to the user who created the interaction."""

from typing import ClassVar

from moothall.api.events import UserEvent
from moothall.objects.ids import InteractionId
from moothall.objects.interaction import Interaction
from moothall.objects.json_object import JsonObject


class _InteractionEvent(UserEvent, frozen=True, kw_only=True):
    transient: ClassVar[bool] = True


class InteractionCreate(_InteractionEvent, frozen=True, kw_only=True):
    """INTERACTION_CREATE to the application's bot: the interaction. Needs no intent."""

    name: ClassVar[str] = "INTERACTION_CREATE"
    interaction: Interaction

    @property
    def guild_id(self) -> int:
        """The guild, whose shard alone receives the event, even if the bot is no member; 0 in direct messages."""
        return self.interaction.guild_id or 0

    def payload(self) -> object:
        """The interaction."""
        return self.interaction


class InteractionCreateAck(_InteractionEvent, frozen=True, kw_only=True):
    """INTERACTION_CREATE to the user's client: its interaction has been sent to the application."""

    name: ClassVar[str] = "INTERACTION_CREATE"
    id: InteractionId
    nonce: str | None

    def payload(self) -> object:
        """The interaction's id and nonce."""
        return _id_and_nonce(self.id, self.nonce)


class InteractionSuccess(_InteractionEvent, frozen=True, kw_only=True):
    """INTERACTION_SUCCESS: the application has responded."""

    name: ClassVar[str] = "INTERACTION_SUCCESS"
    id: InteractionId
    nonce: str | None

    def payload(self) -> object:
        """The interaction's id and nonce."""
        return _id_and_nonce(self.id, self.nonce)


class InteractionFailure(_InteractionEvent, frozen=True, kw_only=True):
    """INTERACTION_FAILURE: the application did not respond in time, or its endpoint's response was invalid."""

    name: ClassVar[str] = "INTERACTION_FAILURE"
    id: InteractionId
    nonce: str | None
    reason_code: int = 2
    """The code that the official clients know."""

    def payload(self) -> object:
        """The interaction's id and nonce, and the reason."""
        return {**_id_and_nonce(self.id, self.nonce), "reason_code": self.reason_code}


class InteractionModalCreate(_InteractionEvent, frozen=True, kw_only=True):
    """INTERACTION_MODAL_CREATE: a modal to fill in; its `id` is sent as `data.id` when it is submitted."""

    name: ClassVar[str] = "INTERACTION_MODAL_CREATE"
    id: InteractionId
    nonce: str | None
    modal: JsonObject
    extra_fields: JsonObject
    """`channel_id` and `application`."""

    def payload(self) -> object:
        """The modal, with the interaction's id and nonce."""
        return {**_id_and_nonce(self.id, self.nonce), **self.extra_fields, **self.modal}


class AutocompleteResponse(_InteractionEvent, frozen=True, kw_only=True):
    """APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE: choices for the focused option."""

    name: ClassVar[str] = "APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE"
    nonce: str | None
    choices: list[JsonObject]

    def payload(self) -> object:
        """The choices, with the interaction's nonce."""
        return {"nonce": self.nonce, "choices": self.choices}


def _id_and_nonce(interaction_id: InteractionId, nonce: str | None) -> JsonObject:
    return {"id": str(int(interaction_id)), "nonce": nonce}
