"""Interactions: what people do with commands, components and modals (interactions: receiving and responding)."""

from enum import IntEnum
from typing import Any, Final

from msgspec import UNSET, Raw, Struct, UnsetType

from moothall.objects.ids import (
    ApplicationId,
    ChannelId,
    GuildId,
    InteractionId,
    MessageId,
)
from moothall.objects.message import Message


class InteractionType(IntEnum):
    """What somebody did."""

    PING = 1
    APPLICATION_COMMAND = 2
    MESSAGE_COMPONENT = 3
    APPLICATION_COMMAND_AUTOCOMPLETE = 4
    MODAL_SUBMIT = 5


class CallbackType(IntEnum):
    """How an application answers."""

    PONG = 1
    CHANNEL_MESSAGE_WITH_SOURCE = 4
    DEFERRED_CHANNEL_MESSAGE_WITH_SOURCE = 5
    DEFERRED_UPDATE_MESSAGE = 6
    UPDATE_MESSAGE = 7
    APPLICATION_COMMAND_AUTOCOMPLETE_RESULT = 8
    MODAL = 9
    PREMIUM_REQUIRED = 10
    LAUNCH_ACTIVITY = 12


class InteractionState(IntEnum):
    """How far an interaction has come."""

    WAITING = 0
    """The application has not answered yet."""
    ANSWERED = 1
    DEFERRED = 2
    """It has said that its message will come; until then one that is loading stands for it."""
    FAILED = 3
    """It did not answer in time, or not well."""


_C = CallbackType
_MESSAGES: Final = frozenset({_C.CHANNEL_MESSAGE_WITH_SOURCE, _C.DEFERRED_CHANNEL_MESSAGE_WITH_SOURCE})
_UPDATES: Final = frozenset({_C.DEFERRED_UPDATE_MESSAGE, _C.UPDATE_MESSAGE})

ANSWERS: Final = {
    InteractionType.APPLICATION_COMMAND: _MESSAGES | {_C.MODAL, _C.LAUNCH_ACTIVITY},
    InteractionType.MESSAGE_COMPONENT: _MESSAGES | _UPDATES | {_C.MODAL, _C.LAUNCH_ACTIVITY},
    InteractionType.APPLICATION_COMMAND_AUTOCOMPLETE: frozenset({_C.APPLICATION_COMMAND_AUTOCOMPLETE_RESULT}),
    InteractionType.MODAL_SUBMIT: _MESSAGES | _UPDATES | {_C.LAUNCH_ACTIVITY},
}
"""Which answers each kind of interaction may get; updates only where there is a message to update."""
UPDATES: Final = _UPDATES


class Interaction(Struct, frozen=True, kw_only=True):
    """What the application hears."""

    id: InteractionId
    application_id: ApplicationId
    type: int
    data: dict[str, Any]
    guild: dict[str, Any] | UnsetType = UNSET
    guild_id: GuildId | UnsetType = UNSET
    channel: dict[str, Any]
    channel_id: ChannelId
    member: dict[str, Any] | UnsetType = UNSET
    user: dict[str, Any] | UnsetType = UNSET
    token: str
    version: int = 1
    message: Raw | UnsetType = UNSET
    app_permissions: str
    locale: str
    guild_locale: str | UnsetType = UNSET
    entitlements: list[Any] = []
    entitlement_sku_ids: list[Any] = []
    authorizing_integration_owners: dict[str, str]
    context: int
    attachment_size_limit: int


class ActivityInstance(Struct, frozen=True):
    """An activity that was launched."""

    id: str


class CallbackInteraction(Struct, frozen=True, kw_only=True):
    """What an answer has made of an interaction; there is no `response_message_id` without a message."""

    id: InteractionId
    type: int
    activity_instance_id: str | UnsetType = UNSET
    response_message_id: MessageId | UnsetType = UNSET
    response_message_loading: bool | UnsetType = UNSET
    response_message_ephemeral: bool | UnsetType = UNSET
    channel_id: ChannelId | UnsetType = UNSET
    guild_id: GuildId | UnsetType = UNSET


class CallbackResource(Struct, frozen=True, kw_only=True):
    """What an answer has made."""

    type: int
    activity_instance: ActivityInstance | UnsetType = UNSET
    message: Message | UnsetType = UNSET


class CallbackResponse(Struct, frozen=True, kw_only=True):
    """The answer to an answer, for those who asked for it."""

    interaction: CallbackInteraction
    resource: CallbackResource | UnsetType = UNSET
