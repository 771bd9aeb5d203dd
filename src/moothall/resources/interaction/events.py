"""What is told of interactions: to the application that they are for, and to the person who raised them."""

from typing import Any, ClassVar

from moothall.bus import Audience
from moothall.kernel.events import Event
from moothall.objects.ids import InteractionId, UserId
from moothall.objects.interaction import Interaction


class _ToUser(Event, frozen=True, kw_only=True):
    """To every session of one user."""

    audience: ClassVar[Audience] = Audience.USERS
    fleeting: ClassVar[bool] = True
    user_id: UserId

    @property
    def user_ids(self) -> tuple[UserId, ...]:
        """Whose sessions hear it."""
        return (self.user_id,)


class InteractionCreate(_ToUser, frozen=True, kw_only=True):
    """INTERACTION_CREATE to the application's bot: what somebody did. Needs no intent."""

    name: ClassVar[str] = "INTERACTION_CREATE"
    interaction: Interaction

    @property
    def guild_id(self) -> int:
        """The guild, whose shard alone hears it, whether or not the bot is in it; 0 for a direct message."""
        return self.interaction.guild_id or 0

    def payload(self) -> object:
        """The interaction."""
        return self.interaction


class InteractionRaised(_ToUser, frozen=True, kw_only=True):
    """INTERACTION_CREATE to the person's client: what it raised has been told to the application."""

    name: ClassVar[str] = "INTERACTION_CREATE"
    id: InteractionId
    nonce: str | None

    def payload(self) -> object:
        """Which one."""
        return _which(self.id, self.nonce)


class InteractionSuccess(_ToUser, frozen=True, kw_only=True):
    """INTERACTION_SUCCESS: the application has answered."""

    name: ClassVar[str] = "INTERACTION_SUCCESS"
    id: InteractionId
    nonce: str | None

    def payload(self) -> object:
        """Which one."""
        return _which(self.id, self.nonce)


class InteractionFailure(_ToUser, frozen=True, kw_only=True):
    """INTERACTION_FAILURE: the application did not answer in time, or not well; `reason_code` as clients know."""

    name: ClassVar[str] = "INTERACTION_FAILURE"
    id: InteractionId
    nonce: str | None
    reason_code: int = 2

    def payload(self) -> object:
        """Which one, and why."""
        return {**_which(self.id, self.nonce), "reason_code": self.reason_code}


class InteractionModalCreate(_ToUser, frozen=True, kw_only=True):
    """INTERACTION_MODAL_CREATE: a form to fill in; its `id` comes back as `data.id`."""

    name: ClassVar[str] = "INTERACTION_MODAL_CREATE"
    id: InteractionId
    nonce: str | None
    modal: dict[str, Any]
    more: dict[str, Any]
    """Where, and whose: `channel_id`, `application`."""

    def payload(self) -> object:
        """The form."""
        return {**_which(self.id, self.nonce), **self.more, **self.modal}


class AutocompleteResponse(_ToUser, frozen=True, kw_only=True):
    """APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE: what may be meant."""

    name: ClassVar[str] = "APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE"
    nonce: str | None
    choices: list[dict[str, Any]]

    def payload(self) -> object:
        """The choices."""
        return {"nonce": self.nonce, "choices": self.choices}


def _which(interaction_id: InteractionId, nonce: str | None) -> dict[str, Any]:
    return {"id": str(int(interaction_id)), "nonce": nonce}
