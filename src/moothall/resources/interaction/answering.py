"""An application's one answer to an interaction: a message, an update, a modal, choices, or the promise of one."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct, structs

from moothall.kernel.context import Context
from moothall.kernel.form import describe_failure
from moothall.kernel.hooks import Fires
from moothall.objects import errors, limits
from moothall.objects.application import ApplicationFlags
from moothall.objects.command import OptionType
from moothall.objects.errors import FormErrors, Refusal, refuse_field
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.interaction import ANSWERS, UPDATES, CallbackType, InteractionState, InteractionType
from moothall.objects.locales import DEFAULT
from moothall.objects.message_types import MessageFlags
from moothall.objects.wire import convert, to_plain
from moothall.resources.application.operations import public_fields
from moothall.resources.application.queries import select_application
from moothall.resources.channel.events import DirectChannelCreate
from moothall.resources.channel.thread_activity.events import WAKES
from moothall.resources.component.modals import read_modal, survey_modal
from moothall.resources.component.resolved_ids import find_known
from moothall.resources.interaction import queries
from moothall.resources.interaction.command.locales import text_in
from moothall.resources.interaction.command.requests import ChoiceInput, check_values
from moothall.resources.interaction.events import (
    AutocompleteResponse,
    InteractionModalCreate,
    InteractionSuccess,
)
from moothall.resources.interaction.messages import (
    Posted,
    access_of,
    edit_source,
    flags_of,
    post_message,
    read_new,
    sender_for,
)
from moothall.resources.interaction.queries import InteractionRow
from moothall.resources.interaction.requests import Callback
from moothall.resources.interaction.timers import Timers
from moothall.resources.message.drafts import Draft, EditMessage, MessageFields
from moothall.resources.message.events import MessageCreate, MessageUpdate
from moothall.resources.user.queries import select_user

T = TypeVar("T")

ANSWERING: Final[Fires] = (
    MessageCreate,
    MessageUpdate,
    DirectChannelCreate,
    InteractionSuccess,
    InteractionModalCreate,
    AutocompleteResponse,
    *WAKES,
)
"""What a row declares to fire if an interaction may be answered in it."""
GRACE_MS: Final = 3_500
"""After so long an interaction is over, even if the process that counted its seconds has died."""


class Answered(Struct, frozen=True, kw_only=True):
    """What an answer has made."""

    posted: Posted | None = None
    updated: bytes | None = None
    activity: str | None = None


class Autocompletion(Struct, frozen=True, kw_only=True):
    """What may be meant."""

    choices: list[ChoiceInput] = []


async def answer(ctx: Context, row: InteractionRow, callback: Callback) -> Answered:
    """Answer an interaction, once, and tell its person.

    Raises Refusal: 404/10062 for one that is over, 400/40060 for one that was answered, 50035 for an
    answer that does not fit it, with every error below `data`. The caller declares `ANSWERING`.
    """
    allowed = ANSWERS[InteractionType(row.type)]
    if row.source_id is None:
        allowed = allowed - UPDATES
    if callback.type not in allowed:
        refuse_field("type", *FieldError.choices(tuple(sorted(int(each) for each in allowed))))
    deferred = callback.type == CallbackType.DEFERRED_CHANNEL_MESSAGE_WITH_SOURCE
    state = InteractionState.DEFERRED if deferred else InteractionState.ANSWERED
    if row.state == InteractionState.WAITING and row.created_at + GRACE_MS < ctx.now:
        raise Refusal(errors.UNKNOWN_INTERACTION)
    if not await queries.take_interaction(ctx.tx, row.id, state):
        over = row.state == InteractionState.FAILED
        raise Refusal(errors.UNKNOWN_INTERACTION if over else errors.ALREADY_ACKNOWLEDGED)
    done: Answered = await _DO[callback.type](ctx, row, callback)
    columns: dict[str, Any] = {"callback": int(callback.type)}
    if done.posted is not None:
        columns |= {"response_id": done.posted.id, "response_room_id": done.posted.room_id}
    elif callback.type in UPDATES:
        columns |= {"response_id": row.source_id, "response_room_id": row.source_room_id}
    await queries.update_interaction(ctx.tx, row.id, **columns)
    ctx.emit(InteractionSuccess(user_id=row.user_id, id=row.id, nonce=row.nonce))
    ctx.after_commit.append(partial(Timers.of(ctx.services).stop, row.id))
    return done


async def _post(ctx: Context, row: InteractionRow, callback: Callback) -> Answered:
    body = read_data(MessageFields, callback)
    access = await access_of(ctx, row)
    body = structs.replace(body, flags=await flags_of(ctx, row, access, body.flags))
    draft = await read_new(ctx, row, access, body, FormErrors().at("data"))
    ephemeral = bool((body.flags or 0) & MessageFlags.EPHEMERAL)
    return Answered(posted=await post_message(ctx, row, access, draft, ephemeral=ephemeral))


async def _defer(ctx: Context, row: InteractionRow, callback: Callback) -> Answered:
    given = callback.data if isinstance(callback.data, dict) else {}
    flags = given.get("flags")
    if flags is not None and (not isinstance(flags, int) or isinstance(flags, bool)):
        refuse_field("data.flags", FormCode.NUMBER_TYPE_COERCE, "Value is not int.")
    access = await access_of(ctx, row)
    ephemeral = bool(await flags_of(ctx, row, access, flags) & MessageFlags.EPHEMERAL)
    posted = await post_message(ctx, row, access, Draft(content=""), ephemeral=ephemeral, loading=True)
    return Answered(posted=posted)


async def _defer_update(ctx: Context, row: InteractionRow, callback: Callback) -> Answered:
    del ctx, row, callback
    return Answered()


async def _update(ctx: Context, row: InteractionRow, callback: Callback) -> Answered:
    body = read_data(EditMessage, callback)
    return Answered(updated=await edit_source(ctx, row, body))


async def _complete(ctx: Context, row: InteractionRow, callback: Callback) -> Answered:
    body = read_data(Autocompletion, callback)
    if len(body.choices) > limits.COMMAND_CHOICES_MAX:
        refuse_field("data.choices", *FieldError.length(None, limits.COMMAND_CHOICES_MAX))
    form_errors = FormErrors()
    kind = row.metadata.get("option_type", OptionType.STRING)
    check_values(body.choices, kind, form_errors.at(["data", "choices"]))
    form_errors.raise_if_any()
    user = await select_user(ctx.tx, row.user_id)
    locale = DEFAULT if user is None else user.locale
    choices = [
        {"name": each.name, "name_localized": text_in(each.name_localizations, locale), "value": each.value}
        for each in body.choices
    ]
    told = [{key: value for key, value in choice.items() if value is not None} for choice in choices]
    ctx.emit(AutocompleteResponse(user_id=row.user_id, nonce=row.nonce, choices=told))
    return Answered()


async def _show_modal(ctx: Context, row: InteractionRow, callback: Callback) -> Answered:
    form_errors = FormErrors()
    access = await access_of(ctx, row)
    seen = survey_modal(callback.data)
    known = await find_known(ctx, access, seen, sender_for(row))
    modal = read_modal(callback.data or {}, form_errors.at("data"), known=known, seen=seen)
    form_errors.raise_if_any()
    plain: dict[str, Any] = to_plain(modal)
    await queries.update_interaction(ctx.tx, row.id, modal=plain)
    application = await select_application(ctx.tx, row.application_id)
    more: dict[str, Any] = {"channel_id": str(int(row.channel_id))}
    if application is not None:
        fields = public_fields(application, None)
        more["application"] = {
            "id": str(int(application.id)),
            **{key: fields[key] for key in ("name", "icon", "description")},
        }
    ctx.emit(InteractionModalCreate(user_id=row.user_id, id=row.id, nonce=row.nonce, modal=plain, more=more))
    return Answered()


async def _launch(ctx: Context, row: InteractionRow, callback: Callback) -> Answered:
    del callback
    application = await select_application(ctx.tx, row.application_id)
    if application is None or not application.flags & ApplicationFlags.EMBEDDED:
        refuse_field("type", FormCode.BASE_TYPE_CHOICES, "Only applications with Activities launch them.")
    where = "pc" if row.guild_id is None else f"gc-{int(row.guild_id)}"
    return Answered(activity=f"i-{int(row.id)}-{where}-{int(row.channel_id)}")


_DO: Final[dict[CallbackType, Callable[[Context, InteractionRow, Callback], Any]]] = {
    CallbackType.CHANNEL_MESSAGE_WITH_SOURCE: _post,
    CallbackType.DEFERRED_CHANNEL_MESSAGE_WITH_SOURCE: _defer,
    CallbackType.DEFERRED_UPDATE_MESSAGE: _defer_update,
    CallbackType.UPDATE_MESSAGE: _update,
    CallbackType.APPLICATION_COMMAND_AUTOCOMPLETE_RESULT: _complete,
    CallbackType.MODAL: _show_modal,
    CallbackType.LAUNCH_ACTIVITY: _launch,
}


def read_data(kind: type[T], callback: Callback) -> T:
    """The `data` of an answer. Raises Refusal: 50035 with every error below `data`."""
    given = callback.data if isinstance(callback.data, dict) else {}
    try:
        done: T = convert(given, kind)
    except msgspec.ValidationError as problem:
        form_errors = FormErrors()
        describe_failure(kind, given, ["data"], form_errors)
        if not form_errors:
            form_errors.add("data", FormCode.BASE_TYPE_CHOICES, str(problem))
        raise form_errors.refusal() from None
    return done
