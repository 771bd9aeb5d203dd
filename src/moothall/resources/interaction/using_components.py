"""Somebody uses a component of a message, or hands a modal in."""

from msgspec import Raw

from moothall.objects import errors
from moothall.objects.application import IntegrationType
from moothall.objects.component import Modal, Select
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FieldError
from moothall.objects.ids import InteractionId, UserId
from moothall.objects.wire import convert
from moothall.resources.component.submissions import read_modal_submission, submitted
from moothall.resources.interaction import queries
from moothall.resources.interaction.components import find_source, read_choice, resolve_select
from moothall.resources.interaction.raised import Raised, id_at
from moothall.resources.interaction.rules import owners_of
from moothall.resources.message.pages import Viewer, message_bytes


async def use_component(raised: Raised) -> None:
    """Check the use of a component, and what was chosen in it. Raises Refusal: 404/10008, 50035."""
    ctx, body = raised.ctx, raised.body
    if body.message_id is None:
        refuse_field("message_id", *FieldError.required())
    source = await find_source(ctx, raised.access, body.message_id, raised.application.id)
    raised.source = source.room_id, source.id
    raised.owners = source.owners or await _default_owners(raised)
    component = source.component(body.data.get("custom_id"))
    chosen = read_choice(component, body.data, raised.found.at("data"))
    raised.data = chosen.data
    if not raised.found:
        await chosen.resolve(raised.resolver)
    raised.metadata["interacted_message_id"] = str(int(source.id))
    found = await message_bytes(ctx.tx, source.room_id, [source.id], Viewer(UserId(raised.application.id)))
    raised.message = Raw(found[source.id])


async def hand_in_modal(raised: Raised) -> None:
    """Check what was entered into a modal, which is handed in once. Raises Refusal: 404/10062, 413/40005, 50035."""
    ctx, data = raised.ctx, raised.body.data
    row = await queries.select_interaction(ctx.tx, InteractionId(id_at(data, "id")))
    if (
        row is None
        or row.modal is None
        or row.user_id != ctx.actor.user_id
        or row.application_id != raised.application.id
        or row.channel_id != raised.access.id
        or row.modal["custom_id"] != data.get("custom_id", row.modal["custom_id"])
    ):
        raise Refusal(errors.UNKNOWN_INTERACTION)
    modal: Modal = convert(row.modal, Modal)
    handed_in = raised.hand_in()
    answers = read_modal_submission(modal, data.get("components"), raised.found.at("data"), files=handed_in.names)
    if raised.found:
        return
    raised.owners = row.owners
    for answer in answers:
        if answer.ids and isinstance(answer.field, Select):
            await resolve_select(raised.resolver, answer.field, answer.ids, "data.components")
        elif answer.ids:
            files = [file for each in answer.ids if (file := handed_in.take(each)) is not None]
            for file in files:
                raised.resolver.attachment(file.id, handed_in.shown(file))
            answer.value[:] = [str(int(file.id)) for file in files]
    raised.data = {"custom_id": modal.custom_id, "components": submitted(modal, answers)}
    raised.metadata["triggering_interaction_metadata"] = row.metadata
    if not raised.found and not await queries.take_modal(ctx.tx, row.id):
        raise Refusal(errors.UNKNOWN_INTERACTION)
    if row.source_id is not None and row.source_room_id is not None:
        found = await message_bytes(ctx.tx, row.source_room_id, [row.source_id], Viewer(UserId(row.application_id)))
        if row.source_id in found:
            raised.source = row.source_room_id, row.source_id
            raised.message = Raw(found[row.source_id])


async def _default_owners(raised: Raised) -> dict[str, str]:
    both = [IntegrationType.GUILD_INSTALL, IntegrationType.USER_INSTALL]
    owners = await owners_of(raised.ctx, raised.access, raised.application.id, both)
    return owners or {"0": "0" if raised.access.guild is None else str(int(raised.access.guild.id))}
