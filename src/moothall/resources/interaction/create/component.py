"""Read the use of a component of a message (interactions: message components)."""

from msgspec import Raw, Struct

from moothall.objects.application import IntegrationType
from moothall.objects.component import (
    Button,
    ChannelSelect,
    MentionableSelect,
    RoleSelect,
    Select,
    StringSelect,
    UserSelect,
)
from moothall.objects.errors import FormErrors, refuse_field
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.json_object import JsonObject
from moothall.resources.component.submissions import read_values
from moothall.resources.interaction.create.draft import InteractionDraft
from moothall.resources.interaction.create.resolved_data import Resolver
from moothall.resources.interaction.create.source_message import find_source_message
from moothall.resources.interaction.rules import authorizing_owners
from moothall.resources.message.rendering import Viewer, message_bytes


class ComponentValues(Struct, frozen=True):
    """What the user chose in a component.

    `data` is the interaction's; `ids` are to be resolved, as users, roles or channels by the type of `select`.
    """

    data: JsonObject
    select: Select | None
    ids: list[Snowflake]


async def read_component(draft: InteractionDraft) -> None:
    """Read the component that was used, and the chosen values, into the draft. Raises Refusal: 404/10008, 50035."""
    ctx, body = draft.ctx, draft.body
    if body.message_id is None:
        refuse_field("message_id", *FieldError.required())
    source = await find_source_message(ctx, draft.access, body.message_id, draft.application.id)
    draft.source = source.room_id, source.id
    draft.owners = source.owners or await _default_owners(draft)
    values = read_component_values(
        source.component(body.data.get("custom_id")), body.data, draft.form_errors.at("data")
    )
    draft.data = values.data
    if not draft.form_errors and values.select is not None:
        await resolve_select(draft.resolver, values.select, values.ids, "data.values")
    draft.metadata["interacted_message_id"] = str(int(source.id))
    messages = await message_bytes(ctx.tx, source.room_id, [source.id], Viewer(UserId(draft.application.id)))
    draft.source_message = Raw(messages[source.id])


def read_component_values(component: Button | Select, data: JsonObject, form_errors: FormErrors) -> ComponentValues:
    """Check the values that a request has for a component; invalid ones are added to `form_errors`."""
    component_type = component.__struct_config__.tag
    checked: dict[str, object] = {
        "component_type": component_type,
        "id": component.id,
        "custom_id": component.custom_id,
    }
    requested_type = data.get("component_type", data.get("type"))
    if requested_type is None:
        form_errors.add("component_type", *FieldError.required())
    elif requested_type != component_type:
        form_errors.add("component_type", FormCode.BASE_TYPE_CHOICES, f"The component is of type {component_type}.")
    if isinstance(component, Button):
        return ComponentValues(checked, None, [])
    values = read_values(component, data.get("values"), form_errors)
    checked["values"] = values
    if isinstance(component, StringSelect) or form_errors:
        return ComponentValues(checked, None, [])
    return ComponentValues(checked, component, [Snowflake(int(value)) for value in values])


async def resolve_select(resolver: Resolver, select: Select, ids: list[Snowflake], at: str) -> None:
    """Resolve the ids chosen in a select of users, roles, mentionables or channels."""
    match select:
        case UserSelect():
            await resolver.users(ids, at)
        case RoleSelect():
            resolver.roles(ids, at)
        case MentionableSelect():
            await resolver.mentionables(ids, at)
        case ChannelSelect():
            types = select.channel_types if isinstance(select.channel_types, list) else []
            await resolver.channels(ids, dict.fromkeys(ids, types), at)
        case _:
            return


async def _default_owners(draft: InteractionDraft) -> dict[str, str]:
    both = [IntegrationType.GUILD_INSTALL, IntegrationType.USER_INSTALL]
    owners = await authorizing_owners(draft.ctx, draft.access, draft.application.id, both)
    return owners or {"0": "0" if draft.access.guild is None else str(int(draft.access.guild.id))}
