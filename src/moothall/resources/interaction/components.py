"""The message whose component somebody used, and what they chose in it."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct

from moothall.kernel.channel_access import ChannelAccess
from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.component import (
    ActionRow,
    Button,
    ChannelSelect,
    Component,
    Container,
    MentionableSelect,
    RoleSelect,
    Section,
    Select,
    StringSelect,
    UserSelect,
)
from moothall.objects.component_types import ButtonStyle
from moothall.objects.errors import FormErrors, Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ApplicationId, ChannelId, MessageId, Snowflake, UserId
from moothall.resources.component.submissions import read_values
from moothall.resources.interaction.queries import select_ephemeral
from moothall.resources.interaction.resolving import Resolver
from moothall.resources.message.body import decode_text
from moothall.resources.message.layouts import decode_components
from moothall.resources.message.queries import MessageRow, select_message
from moothall.resources.user.queries import select_user

_SILENT: Final = frozenset({ButtonStyle.LINK, ButtonStyle.PREMIUM})
_AT: Final = "data.custom_id"


class _Metadata(Struct):
    """What is read of a stored message's `interaction_metadata`."""

    authorizing_integration_owners: dict[str, str] = {}


class _Answer(Struct):
    """What is read of a stored message."""

    application_id: ApplicationId | None = None
    interaction_metadata: _Metadata | None = None


_answers = msgspec.json.Decoder(_Answer, dec_hook=lambda kind, value: kind(int(value)))


class Source(Struct, frozen=True):
    """A message with components, where it lies, and for whom its application was installed when it was written."""

    row: MessageRow
    room_id: ChannelId
    owners: dict[str, str]

    @property
    def id(self) -> MessageId:
        """The message's id."""
        return self.row.id

    def component(self, custom_id: object) -> Button | Select:
        """The component of a custom id. Raises Refusal: 50035 for none, and for one that cannot be used."""
        for component in _walk(decode_components(decode_text(self.row.body).components)):
            if isinstance(component, Button | Select) and component.custom_id == custom_id and custom_id is not UNSET:
                if component.disabled is True or (isinstance(component, Button) and component.style in _SILENT):
                    refuse_field(_AT, FormCode.BASE_TYPE_CHOICES, "This component cannot be used.")
                return component
        form_errors = FormErrors()
        form_errors.add(_AT, FormCode.BASE_TYPE_CHOICES, "The message has no such component.")
        raise form_errors.refusal()


class Choice(Struct, frozen=True):
    """What somebody chose, as the application hears of it."""

    data: dict[str, Any]
    select: Select | None
    ids: list[Snowflake]

    async def resolve(self, resolver: Resolver) -> None:
        """Look up the people, roles or channels that were chosen."""
        if self.select is not None:
            await resolve_select(resolver, self.select, self.ids, "data.values")


async def find_source(
    ctx: Context, access: ChannelAccess, message_id: MessageId, application_id: ApplicationId
) -> Source:
    """The message of an application whose component the caller has used in a channel.

    It may be one that only the caller sees, or one that they saw come in a channel whose history they cannot
    read. Raises Refusal: 404/10008 for any other.
    """
    room_id = access.id
    hidden = await select_ephemeral(ctx.tx, message_id)
    if hidden is not None:
        if hidden.user_id != ctx.actor.user_id or hidden.channel_id != access.id:
            raise Refusal(errors.UNKNOWN_MESSAGE)
        room_id = ChannelId(hidden.interaction_id)
    row = await select_message(ctx.tx, room_id, message_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_MESSAGE)
    answer = _answers.decode(row.body)
    owner = answer.application_id
    if owner is None and row.webhook_id is None:
        author = await select_user(ctx.tx, UserId(row.author_id))
        owner = None if author is None else author.application_id
    if owner != application_id:
        raise Refusal(errors.UNKNOWN_MESSAGE)
    metadata = answer.interaction_metadata
    return Source(row, room_id, {} if metadata is None else metadata.authorizing_integration_owners)


def read_choice(component: Button | Select, data: dict[str, Any], form_errors: FormErrors) -> Choice:
    """Check what a request says was done with a component."""
    kind = component.__struct_config__.tag
    told: dict[str, Any] = {"component_type": kind, "id": component.id, "custom_id": component.custom_id}
    if data.get("component_type", kind) != kind:
        form_errors.add("component_type", FormCode.BASE_TYPE_CHOICES, f"The component is of type {kind}.")
    if isinstance(component, Button):
        return Choice(told, None, [])
    values = read_values(component, data.get("values"), form_errors)
    told["values"] = values
    if isinstance(component, StringSelect) or form_errors:
        return Choice(told, None, [])
    return Choice(told, component, [Snowflake(int(value)) for value in values])


async def resolve_select(resolver: Resolver, select: Select, ids: list[Snowflake], at: str) -> None:
    """Look up what was chosen in a select of people, roles or channels."""
    match select:
        case UserSelect():
            await resolver.users(ids, at)
        case RoleSelect():
            resolver.roles(ids, at)
        case MentionableSelect():
            await resolver.mentionables(ids, at)
        case ChannelSelect():
            kinds = select.channel_types if isinstance(select.channel_types, list) else []
            await resolver.channels(ids, dict.fromkeys(ids, kinds), at)
        case _:
            return


def _walk(components: Any) -> Iterator[Component]:
    for component in components:
        yield component
        if isinstance(component, ActionRow | Container):
            yield from _walk(component.components)
        elif isinstance(component, Section):
            yield component.accessory
