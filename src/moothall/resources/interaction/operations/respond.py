"""Respond to an interaction: with a message, an edit, a modal, autocomplete choices, an Activity, or later."""

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Final

from msgspec import structs

from moothall.api.context import Context
from moothall.api.hooks import Fires
from moothall.authority.channel_access import find_channel
from moothall.objects import errors, limits
from moothall.objects.application import ApplicationFlags
from moothall.objects.command import OptionType
from moothall.objects.errors import FormErrors, Refusal, refuse_field
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import InteractionId
from moothall.objects.interaction import (
    ALLOWED_CALLBACKS,
    UPDATE_CALLBACKS,
    CallbackType,
    InteractionState,
    InteractionType,
)
from moothall.objects.json_object import JsonObject
from moothall.objects.locales import DEFAULT
from moothall.objects.wire import to_plain
from moothall.resources.activity.operations import ACTIVITY_EVENTS, launch_activity
from moothall.resources.application.objects import public_fields
from moothall.resources.application.queries import select_application
from moothall.resources.channel.events import DirectChannelCreate
from moothall.resources.channel.thread_activity.events import UNARCHIVE_EVENTS
from moothall.resources.component.modals import read_modal, referenced_ids_of_modal
from moothall.resources.component.resolved_ids import resolve_ids
from moothall.resources.interaction import queries
from moothall.resources.interaction.command.locales import localized_text
from moothall.resources.interaction.command.validation import check_choice_values
from moothall.resources.interaction.events import (
    AutocompleteResponse,
    InteractionFailure,
    InteractionModalCreate,
    InteractionSuccess,
)
from moothall.resources.interaction.operations.messages import create_interaction_message, edit_source_message
from moothall.resources.interaction.queries import InteractionRow
from moothall.resources.interaction.requests import InteractionResponse
from moothall.resources.interaction.respond.callback_response import ResponseResult
from moothall.resources.interaction.respond.channel import bot_access, component_sender, is_ephemeral, response_flags
from moothall.resources.interaction.respond.data import AutocompleteData, read_data, read_deferred_flags, read_message
from moothall.resources.interaction.response_timers import ResponseTimers
from moothall.resources.message.drafts import Draft
from moothall.resources.message.events import MessageCreate, MessageUpdate
from moothall.resources.message.requests import EditMessage, MessageFields
from moothall.resources.user.queries import select_user

RESPONSE_EVENTS: Final[Fires] = (
    MessageCreate,
    MessageUpdate,
    DirectChannelCreate,
    InteractionSuccess,
    InteractionModalCreate,
    AutocompleteResponse,
    *UNARCHIVE_EVENTS,
    *ACTIVITY_EVENTS,
)
"""What a caller of `respond` declares to fire."""


async def respond(ctx: Context, row: InteractionRow, response: InteractionResponse) -> ResponseResult:
    """Respond to an interaction, once, and announce it to the user. The caller declares `RESPONSE_EVENTS`.

    Raises Refusal: 404/10062 for an interaction that has failed or is too old, 400/40060 for one that has a response,
    50035 for a type that does not fit the interaction, and for invalid data, with every error below `data`.
    """
    _require_allowed_type(row, response.type)
    timers = ctx.services.resources[ResponseTimers]
    if row.state == InteractionState.WAITING and timers.is_too_late(row.created_at, ctx.now):
        raise Refusal(errors.UNKNOWN_INTERACTION)
    deferred = response.type == CallbackType.DEFERRED_CHANNEL_MESSAGE_WITH_SOURCE
    state = InteractionState.DEFERRED if deferred else InteractionState.ANSWERED
    if not await queries.update_waiting_state(ctx.tx, row.id, state):
        failed = row.state == InteractionState.FAILED
        raise Refusal(errors.UNKNOWN_INTERACTION if failed else errors.ALREADY_ACKNOWLEDGED)
    result = await _RESPONDERS[response.type](ctx, row, response)
    columns: dict[str, object] = {"callback": int(response.type)}
    if result.message is not None:
        columns |= {"response_id": result.message.id, "response_room_id": result.message.room_id}
    elif response.type in UPDATE_CALLBACKS:
        columns |= {"response_id": row.source_id, "response_room_id": row.source_room_id}
    await queries.update_interaction(ctx.tx, row.id, **columns)
    ctx.emit(InteractionSuccess(user_id=row.user_id, id=row.id, nonce=row.nonce))
    ctx.after_commit.append(partial(timers.stop, row.id))
    return result


async def fail_interaction(interaction_id: InteractionId, ctx: Context) -> None:
    """Fail an interaction without a response, and announce it to the user. The caller declares `InteractionFailure`."""
    if await queries.update_waiting_state(ctx.tx, interaction_id, InteractionState.FAILED):
        row = await queries.select_interaction(ctx.tx, interaction_id)
        if row is not None:
            ctx.emit(InteractionFailure(user_id=row.user_id, id=row.id, nonce=row.nonce))


def _require_allowed_type(row: InteractionRow, response_type: CallbackType) -> None:
    allowed = ALLOWED_CALLBACKS[InteractionType(row.type)]
    if row.source_id is None:
        # A deferred update of a submitted modal closes it, whether or not there is a message to update.
        closing = {CallbackType.DEFERRED_UPDATE_MESSAGE} if row.type == InteractionType.MODAL_SUBMIT else set()
        allowed = allowed - (UPDATE_CALLBACKS - closing)
    if response_type not in allowed:
        refuse_field("type", *FieldError.choices(tuple(sorted(int(each) for each in allowed))))


async def _create_message(ctx: Context, row: InteractionRow, response: InteractionResponse) -> ResponseResult:
    body = read_data(MessageFields, response)
    access = await bot_access(ctx, row)
    body = structs.replace(body, flags=await response_flags(ctx, row, access, body.flags))
    draft = await read_message(ctx, row, access, body, FormErrors().at("data"))
    ephemeral = is_ephemeral(body.flags)
    return ResponseResult(message=await create_interaction_message(ctx, row, access, draft, ephemeral=ephemeral))


async def _defer_message(ctx: Context, row: InteractionRow, response: InteractionResponse) -> ResponseResult:
    flags = read_deferred_flags(response)
    access = await bot_access(ctx, row)
    ephemeral = is_ephemeral(await response_flags(ctx, row, access, flags))
    message = await create_interaction_message(ctx, row, access, Draft(content=""), ephemeral=ephemeral, loading=True)
    return ResponseResult(message=message)


async def _defer_update(ctx: Context, row: InteractionRow, response: InteractionResponse) -> ResponseResult:
    del ctx, row, response
    return ResponseResult()


async def _update_message(ctx: Context, row: InteractionRow, response: InteractionResponse) -> ResponseResult:
    body = read_data(EditMessage, response)
    return ResponseResult(updated=await edit_source_message(ctx, row, body))


async def _autocomplete(ctx: Context, row: InteractionRow, response: InteractionResponse) -> ResponseResult:
    body = read_data(AutocompleteData, response)
    if len(body.choices) > limits.COMMAND_CHOICES_MAX:
        refuse_field("data.choices", *FieldError.length(None, limits.COMMAND_CHOICES_MAX))
    form_errors = FormErrors()
    option_type = row.metadata.get("option_type", OptionType.STRING)
    check_choice_values(body.choices, option_type, form_errors.at(["data", "choices"]))
    form_errors.raise_if_any()
    user = await select_user(ctx.tx, row.user_id)
    locale = DEFAULT if user is None else user.locale
    choices: list[dict[str, object]] = []
    for choice in body.choices:
        localized = localized_text(choice.name_localizations, locale)
        localized_name = {} if localized is None else {"name_localized": localized}
        value = int(choice.value) if option_type == OptionType.INTEGER else choice.value
        choices.append({"name": choice.name, **localized_name, "value": value})
    ctx.emit(AutocompleteResponse(user_id=row.user_id, nonce=row.nonce, choices=choices))
    return ResponseResult()


async def _show_modal(ctx: Context, row: InteractionRow, response: InteractionResponse) -> ResponseResult:
    form_errors = FormErrors()
    access = await bot_access(ctx, row)
    referenced_ids = referenced_ids_of_modal(response.data)
    resolved_ids = await resolve_ids(ctx, access, referenced_ids, component_sender(row))
    modal = read_modal(response.data or {}, form_errors.at("data"), resolved=resolved_ids, referenced=referenced_ids)
    form_errors.raise_if_any()
    plain: JsonObject = to_plain(modal)
    await queries.update_interaction(ctx.tx, row.id, modal=plain)
    application = await select_application(ctx.tx, row.application_id)
    extra_fields: dict[str, object] = {"channel_id": str(int(row.channel_id))}
    if application is not None:
        fields = public_fields(application, None)
        extra_fields["application"] = {
            "id": str(int(application.id)),
            **{key: fields[key] for key in ("name", "icon", "description")},
        }
    ctx.emit(
        InteractionModalCreate(user_id=row.user_id, id=row.id, nonce=row.nonce, modal=plain, extra_fields=extra_fields)
    )
    return ResponseResult()


async def _launch_activity(ctx: Context, row: InteractionRow, response: InteractionResponse) -> ResponseResult:
    del response
    application = await select_application(ctx.tx, row.application_id)
    if application is None or not application.flags & ApplicationFlags.EMBEDDED:
        refuse_field("type", FormCode.BASE_TYPE_CHOICES, "Only applications with Activities launch them.")
    access = await find_channel(ctx.services.states, ctx.tx, row.channel_id, row.user_id, ctx.now, writes=ctx.writes)
    if access is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    instance_id = await launch_activity(ctx, application, access, row.user_id, row.session_id)
    return ResponseResult(activity_instance_id=instance_id)


_Responder = Callable[[Context, InteractionRow, InteractionResponse], Coroutine[object, None, ResponseResult]]
_RESPONDERS: Final[dict[CallbackType, _Responder]] = {
    CallbackType.CHANNEL_MESSAGE_WITH_SOURCE: _create_message,
    CallbackType.DEFERRED_CHANNEL_MESSAGE_WITH_SOURCE: _defer_message,
    CallbackType.DEFERRED_UPDATE_MESSAGE: _defer_update,
    CallbackType.UPDATE_MESSAGE: _update_message,
    CallbackType.APPLICATION_COMMAND_AUTOCOMPLETE_RESULT: _autocomplete,
    CallbackType.MODAL: _show_modal,
    CallbackType.LAUNCH_ACTIVITY: _launch_activity,
}
