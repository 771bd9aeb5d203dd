"""Interactions with commands, components and modals (interactions: receiving and responding)."""

from enum import IntEnum
from typing import Final

from msgspec import UNSET, Raw, Struct, UnsetType

from moothall.objects.ids import (
    ApplicationId,
    ChannelId,
    GuildId,
    InteractionId,
    MessageId,
    SkuId,
)
from moothall.objects.json_object import JsonObject
from moothall.objects.message import Message
from moothall.objects.monetization import Entitlement


class InteractionType(IntEnum):
    """The type of an interaction."""

    PING = 1
    APPLICATION_COMMAND = 2
    MESSAGE_COMPONENT = 3
    APPLICATION_COMMAND_AUTOCOMPLETE = 4
    MODAL_SUBMIT = 5


class CallbackType(IntEnum):
    """The type of an application's response."""

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
    """The state of an interaction."""

    WAITING = 0
    """The application has not responded yet."""
    ANSWERED = 1
    DEFERRED = 2
    """The application deferred its response; a loading message is shown until then."""
    FAILED = 3
    """The application did not respond in time, or responded with an error."""


_C = CallbackType
_MESSAGES: Final = frozenset({_C.CHANNEL_MESSAGE_WITH_SOURCE, _C.DEFERRED_CHANNEL_MESSAGE_WITH_SOURCE})
_UPDATES: Final = frozenset({_C.DEFERRED_UPDATE_MESSAGE, _C.UPDATE_MESSAGE})

ALLOWED_CALLBACKS: Final = {
    InteractionType.APPLICATION_COMMAND: _MESSAGES | {_C.MODAL, _C.LAUNCH_ACTIVITY},
    InteractionType.MESSAGE_COMPONENT: _MESSAGES | _UPDATES | {_C.MODAL, _C.LAUNCH_ACTIVITY},
    InteractionType.APPLICATION_COMMAND_AUTOCOMPLETE: frozenset({_C.APPLICATION_COMMAND_AUTOCOMPLETE_RESULT}),
    InteractionType.MODAL_SUBMIT: _MESSAGES | _UPDATES | {_C.LAUNCH_ACTIVITY},
}
"""The response types that each type of interaction accepts; updates only if there is a message to update."""
UPDATE_CALLBACKS: Final = _UPDATES


class Interaction(Struct, frozen=True, kw_only=True):
    """The interaction object that an application receives."""

    id: InteractionId
    application_id: ApplicationId
    type: int
    data: JsonObject
    guild: JsonObject | UnsetType = UNSET
    guild_id: GuildId | UnsetType = UNSET
    channel: JsonObject
    channel_id: ChannelId
    member: JsonObject | UnsetType = UNSET
    user: JsonObject | UnsetType = UNSET
    token: str
    version: int = 1
    message: Raw | UnsetType = UNSET
    app_permissions: str
    locale: str
    guild_locale: str | UnsetType = UNSET
    entitlements: list[Entitlement] = []
    entitlement_sku_ids: list[SkuId] = []
    authorizing_integration_owners: dict[str, str]
    context: int
    attachment_size_limit: int


class ActivityInstance(Struct, frozen=True):
    """A launched activity."""

    id: str


class CallbackInteraction(Struct, frozen=True, kw_only=True):
    """The interaction after a response. `response_message_id` is absent without a message."""

    id: InteractionId
    type: int
    activity_instance_id: str | UnsetType = UNSET
    response_message_id: MessageId | UnsetType = UNSET
    response_message_loading: bool | UnsetType = UNSET
    response_message_ephemeral: bool | UnsetType = UNSET
    channel_id: ChannelId | UnsetType = UNSET
    guild_id: GuildId | UnsetType = UNSET


class CallbackResource(Struct, frozen=True, kw_only=True):
    """The object that a response created."""

    type: int
    activity_instance: ActivityInstance | UnsetType = UNSET
    message: Message | UnsetType = UNSET


class CallbackResponse(Struct, frozen=True, kw_only=True):
    """The result of a response, returned if it was requested."""

    interaction: CallbackInteraction
    resource: CallbackResource | UnsetType = UNSET
