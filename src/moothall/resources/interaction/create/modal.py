"""Read the submission of a modal (interactions: modal submit data)."""

from msgspec import Raw

from moothall.objects import errors
from moothall.objects.component import Modal, Select
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FieldError
from moothall.objects.ids import InteractionId, UserId
from moothall.objects.wire import convert
from moothall.resources.component.submissions import read_modal_submission, submission_payload
from moothall.resources.interaction import queries
from moothall.resources.interaction.create.component import resolve_select
from moothall.resources.interaction.create.draft import InteractionDraft, read_id
from moothall.resources.interaction.queries import InteractionRow
from moothall.resources.message.rendering import Viewer, message_bytes


async def read_modal_submit(draft: InteractionDraft) -> None:
    """Read the values entered into a modal into the draft.

    A modal is submitted once: storing the draft clears it. Raises Refusal: 404/10062 for a modal that was not shown to
    the caller here or has been submitted, 413/40005.
    """
    row, modal = await _find_modal(draft)
    files = await draft.read_files()
    answers = read_modal_submission(
        modal, draft.body.data.get("components"), draft.form_errors.at("data"), files=files.names
    )
    if draft.form_errors:
        return
    draft.modal_interaction_id = row.id
    draft.owners = row.owners
    for answer in answers:
        if answer.ids and isinstance(answer.field, Select):
            await resolve_select(draft.resolver, answer.field, answer.ids, "data.components")
        elif answer.ids:
            attachments = [file for number in answer.ids if (file := files.take(number)) is not None]
            for file in attachments:
                draft.resolver.attachment(file.id, files.to_json(file))
            answer.value[:] = [str(int(file.id)) for file in attachments]
    draft.data = {"custom_id": modal.custom_id, "components": submission_payload(modal, answers)}
    draft.metadata["triggering_interaction_metadata"] = row.metadata
    if row.source_id is not None and row.source_room_id is not None:
        viewer = Viewer(UserId(row.application_id))
        messages = await message_bytes(draft.ctx.tx, row.source_room_id, [row.source_id], viewer)
        if row.source_id in messages:
            draft.source = row.source_room_id, row.source_id
            draft.source_message = Raw(messages[row.source_id])


async def _find_modal(draft: InteractionDraft) -> tuple[InteractionRow, Modal]:
    """The modal that is submitted, and the interaction that showed it. Raises Refusal: 404/10062, 50035."""
    data = draft.body.data
    row = await queries.select_interaction(draft.ctx.tx, InteractionId(read_id(data, "id")))
    if (
        row is None
        or row.modal is None
        or row.user_id != draft.ctx.actor.user_id
        or row.application_id != draft.application.id
        or row.channel_id != draft.access.id
    ):
        raise Refusal(errors.UNKNOWN_INTERACTION)
    custom_id = data.get("custom_id")
    if custom_id is None:
        refuse_field("data.custom_id", *FieldError.required())
    if custom_id != row.modal["custom_id"]:
        raise Refusal(errors.UNKNOWN_INTERACTION)
    return row, convert(row.modal, Modal)
