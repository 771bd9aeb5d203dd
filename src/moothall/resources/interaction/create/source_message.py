"""The message whose component was used."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct

from moothall.api.context import Context
from moothall.authority.channel_access import ChannelAccess
from moothall.objects import errors
from moothall.objects.component import ActionRow, Button, Component, Container, Section, Select
from moothall.objects.component_types import ButtonStyle
from moothall.objects.errors import FormErrors, Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ApplicationId, ChannelId, MessageId, UserId
from moothall.resources.interaction.queries import select_ephemeral
from moothall.resources.message.body import decode_text
from moothall.resources.message.components import decode_components
from moothall.resources.message.queries import MessageRow, select_message
from moothall.resources.user.queries import select_user

_WITHOUT_INTERACTION: Final = frozenset({ButtonStyle.LINK, ButtonStyle.PREMIUM})
_AT: Final = "data.custom_id"


class _Metadata(Struct):
    """The field of a stored message's `interaction_metadata` that is needed here."""

    authorizing_integration_owners: dict[str, str] = {}


class _StoredMessage(Struct):
    """The fields of a stored message that are needed here."""

    application_id: ApplicationId | None = None
    interaction_metadata: _Metadata | None = None


_decoder = msgspec.json.Decoder(_StoredMessage, dec_hook=lambda kind, value: kind(int(value)))


class SourceMessage(Struct, frozen=True):
    """A message with components, with the room id that it is stored under.

    `owners` are the `authorizing_integration_owners` of the interaction that it responded to; empty for other messages.
    """

    row: MessageRow
    room_id: ChannelId
    owners: dict[str, str]

    @property
    def id(self) -> MessageId:
        """The message's id."""
        return self.row.id

    def component(self, custom_id: object) -> Button | Select:
        """The component with a custom id.

        Raises Refusal: 50035 if there is none, or if it is disabled or a link or premium button.
        """
        for component in _walk(decode_components(decode_text(self.row.body).components)):
            if isinstance(component, Button | Select) and component.custom_id == custom_id and custom_id is not UNSET:
                if component.disabled is True or (
                    isinstance(component, Button) and component.style in _WITHOUT_INTERACTION
                ):
                    refuse_field(_AT, FormCode.BASE_TYPE_CHOICES, "This component cannot be used.")
                return component
        form_errors = FormErrors()
        form_errors.add(_AT, FormCode.BASE_TYPE_CHOICES, "The message has no such component.")
        raise form_errors.refusal()


async def find_source_message(
    ctx: Context, access: ChannelAccess, message_id: MessageId, application_id: ApplicationId
) -> SourceMessage:
    """A message of an application in a channel, for a use of its component by the caller.

    An ephemeral message is visible to its own user only. READ_MESSAGE_HISTORY is not needed, as the caller may have
    received the message when it was created. Raises Refusal: 404/10008 for any other message.
    """
    room_id = access.id
    ephemeral = await select_ephemeral(ctx.tx, message_id)
    if ephemeral is not None:
        if ephemeral.user_id != ctx.actor.user_id or ephemeral.channel_id != access.id:
            raise Refusal(errors.UNKNOWN_MESSAGE)
        room_id = ChannelId(ephemeral.interaction_id)
    row = await select_message(ctx.tx, room_id, message_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_MESSAGE)
    stored = _decoder.decode(row.body)
    owner_id = stored.application_id
    if owner_id is None and row.webhook_id is None:
        author = await select_user(ctx.tx, UserId(row.author_id))
        owner_id = None if author is None else author.application_id
    if owner_id != application_id:
        raise Refusal(errors.UNKNOWN_MESSAGE)
    metadata = stored.interaction_metadata
    return SourceMessage(row, room_id, {} if metadata is None else metadata.authorizing_integration_owners)


def _walk(components: Any) -> Iterator[Component]:
    for component in components:
        yield component
        if isinstance(component, ActionRow | Container):
            yield from _walk(component.components)
        elif isinstance(component, Section):
            yield component.accessory
