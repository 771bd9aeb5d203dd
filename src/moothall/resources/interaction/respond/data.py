"""Read the `data` of responses."""

from typing import Any, Final, TypeVar

from msgspec import Struct, structs

from moothall.api.context import Context
from moothall.api.request.form import as_integer, read_plain
from moothall.authority.channel_access import ChannelAccess
from moothall.objects.errors import FormErrors, refuse_field
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.poll import PollDraft, PollInput, read_poll
from moothall.resources.interaction.command.fields import ChoiceInput
from moothall.resources.interaction.queries import InteractionRow
from moothall.resources.interaction.requests import InteractionResponse
from moothall.resources.interaction.respond.channel import component_sender, is_ephemeral, response_room_id
from moothall.resources.message.drafts import Draft
from moothall.resources.message.reading import draft_message
from moothall.resources.message.requests import EditMessage, MessageFields

T = TypeVar("T")
_EPHEMERAL_POLL: Final = FieldError(FormCode.BASE_TYPE_BAD_TYPE, "An ephemeral message cannot have a poll.")


class AutocompleteData(Struct, frozen=True, kw_only=True):
    """The data of an APPLICATION_COMMAND_AUTOCOMPLETE_RESULT."""

    choices: list[ChoiceInput] = []


def read_data(kind: type[T], response: InteractionResponse) -> T:
    """The `data` of a response. Raises Refusal: 50035 with every error below `data`."""
    plain = response.data if isinstance(response.data, dict) else {}
    form_errors = FormErrors()
    data: T = read_plain(kind, plain, ["data"], form_errors)
    form_errors.raise_if_any()
    return data


def read_deferred_flags(response: InteractionResponse) -> int | None:
    """The flags of a deferred response. Raises Refusal: 50035."""
    plain: Any = response.data.get("flags") if isinstance(response.data, dict) else None
    flags = as_integer(plain)
    if flags is None and plain is not None:
        refuse_field("data.flags", FormCode.NUMBER_TYPE_COERCE, "Value is not int.")
    return flags


async def read_message(
    ctx: Context, row: InteractionRow, access: ChannelAccess, body: MessageFields, form_errors: FormErrors
) -> Draft:
    """The draft of a response or followup; `body.flags` are those of `response_flags`. Raises Refusal: 50035, 50006."""
    ephemeral = is_ephemeral(body.flags)
    body = structs.replace(body, sticker_ids=None, shared_client_theme=None)
    if ephemeral and body.poll is not None:
        form_errors.add("poll", *_EPHEMERAL_POLL)
    room_id = response_room_id(row, access, ephemeral=ephemeral)
    return await draft_message(ctx, access, body, component_sender(row), form_errors, channel_id=room_id)


def read_poll_of_edit(body: EditMessage, *, ephemeral: bool) -> PollDraft | None:
    """The poll of an edit that fills a loading message. Raises Refusal: 50035, also for an ephemeral message."""
    if not body.poll:
        return None
    form_errors = FormErrors()
    if ephemeral:
        form_errors.add("poll", *_EPHEMERAL_POLL)
        raise form_errors.refusal()
    body_of_poll: PollInput | None = read_plain(PollInput, body.poll, [], FormErrors())
    if body_of_poll is None:
        return None  # `read_edit` reports the errors
    poll = read_poll(body_of_poll, form_errors.at("poll"))
    form_errors.raise_if_any()
    return poll
