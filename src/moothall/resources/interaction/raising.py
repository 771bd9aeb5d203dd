"""What a person's client raises: looked up and checked, then told to the application.

What does not fit the command, the component or the modal is refused before anybody hears of it.
"""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import UNSET, Raw, UnsetType

from moothall.kernel.context import Context
from moothall.kernel.place import ChannelPlace, find_channel
from moothall.kernel.secrets import hash_token, new_token
from moothall.objects import errors
from moothall.objects.application import IntegrationType
from moothall.objects.channel_types import VOICE
from moothall.objects.command import Command, CommandType, InteractionContext
from moothall.objects.component import Modal, Select
from moothall.objects.errors import FormErrors, Refusal, refuse_field
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import (
    ApplicationId,
    ChannelId,
    CommandId,
    GuildId,
    InteractionId,
    MessageId,
    Snowflake,
    UserId,
)
from moothall.objects.interaction import Interaction, InteractionState, InteractionType
from moothall.objects.permissions import Permissions, PermissionSet
from moothall.objects.wire import convert, to_plain
from moothall.resources.application.queries import ApplicationRow, select_application
from moothall.resources.attachment.drafting import Uploaded, attach
from moothall.resources.attachment.requests import AttachmentInput
from moothall.resources.attachment.uploads import allowance_in
from moothall.resources.command.objects import command_object
from moothall.resources.command.queries import EVERYWHERE, select_by_id
from moothall.resources.component.submissions import read_modal_submission, submitted
from moothall.resources.interaction import queries
from moothall.resources.interaction.components import find_source, read_choice, resolve_select
from moothall.resources.interaction.delivery import deliver
from moothall.resources.interaction.options import Chosen, read_options
from moothall.resources.interaction.queries import InteractionRow
from moothall.resources.interaction.requests import RaiseInteraction
from moothall.resources.interaction.resolving import Resolver, partial_channel, whole_member
from moothall.resources.interaction.rules import DIRECT_PERMISSIONS, context_of, owners_of, require_usable
from moothall.resources.member.queries import get_member, member_object
from moothall.resources.message.pages import Viewer, message_bytes
from moothall.resources.user.queries import select_user
from moothall.storage.rows import user_from_row

_TOKEN_LENGTH: Final = 128


class Raised:
    """An interaction on its way: what is known of it so far."""

    def __init__(self, ctx: Context, body: RaiseInteraction, application: ApplicationRow, place: ChannelPlace) -> None:
        self.ctx = ctx
        self.body = body
        self.application = application
        self.place = place
        self.found = FormErrors()
        self.resolver = Resolver(ctx, place, self.found)
        self.data: dict[str, Any] = {}
        self.owners: dict[str, str] = {}
        self.name: str | None = None
        self.metadata: dict[str, Any] = {}
        self.source: tuple[ChannelId, MessageId] | None = None
        self.message: Raw | UnsetType = UNSET


async def raise_interaction(ctx: Context, body: RaiseInteraction) -> None:
    """Tell an application what the caller has done in a channel.

    Raises Refusal: 404/10002, 404/10003, 403/50001, 404/10063, 404/10008, 403/50013, 50035 with every
    value that does not fit.
    """
    place = await ctx.enter_channel(body.channel_id)
    if body.guild_id is not None and (place.guild is None or place.guild.id != body.guild_id):
        refuse_field("guild_id", FormCode.BASE_TYPE_CHOICES, "The channel is not in this guild.")
    if ctx.in_guild and (ctx.member.restricted or (place.channel.type in VOICE and not ctx.has(Permissions.CONNECT))):
        raise Refusal(errors.MISSING_PERMISSIONS)
    application = await select_application(ctx.tx, body.application_id)
    if application is None:
        raise Refusal(errors.UNKNOWN_APPLICATION)
    raised = Raised(ctx, body, application, place)
    if body.type == InteractionType.MESSAGE_COMPONENT:
        await _use_component(raised)
    elif body.type == InteractionType.MODAL_SUBMIT:
        await _hand_in_modal(raised)
    else:
        await _use_command(raised, completing=body.type == InteractionType.APPLICATION_COMMAND_AUTOCOMPLETE)
    raised.found.raise_if_any()
    if raised.resolver.resolved:
        raised.data["resolved"] = raised.resolver.resolved
    await _tell(raised)


async def _use_command(raised: Raised, *, completing: bool) -> None:
    ctx, place, data = raised.ctx, raised.place, raised.body.data
    row = await select_by_id(ctx.tx, CommandId(_id_at(data, "id")))
    here = EVERYWHERE if place.guild is None else place.guild.id
    if row is None or row.application_id != raised.application.id or row.guild_id not in {EVERYWHERE, here}:
        raise Refusal(errors.UNKNOWN_APPLICATION_COMMAND)
    command = command_object(row)
    if "version" in data and str(data["version"]) != str(int(row.version)):
        refuse_field(
            "data.version",
            "INTERACTION_APPLICATION_COMMAND_INVALID_VERSION",
            "This command is outdated, please try again in a few minutes",
        )
    supported = (
        command.integration_types if isinstance(command.integration_types, list) else [IntegrationType.GUILD_INSTALL]
    )
    raised.owners = await owners_of(ctx, place, raised.application.id, supported)
    await require_usable(ctx, place, command, raised.owners)
    raised.data = {"id": str(int(command.id)), "name": command.name, "type": int(command.type)}
    if isinstance(command.guild_id, int):
        raised.data["guild_id"] = str(int(command.guild_id))
    raised.name = command.name
    if command.type == CommandType.CHAT_INPUT:
        await _read_slash(raised, command, completing=completing)
    elif completing:
        refuse_field("type", FormCode.BASE_TYPE_CHOICES, "Only slash commands complete what is typed.")
    elif command.type in {CommandType.USER, CommandType.MESSAGE}:
        await _read_target(raised, command)


async def _read_slash(raised: Raised, command: Command, *, completing: bool) -> None:
    declared = [] if command.options is UNSET else command.options
    found = raised.found.at("data")
    chosen = read_options(declared, raised.body.data.get("options"), found, completing=completing)
    raised.data["options"] = chosen.options
    raised.name = " ".join([command.name, *chosen.path])
    if not found:
        await _resolve_options(raised, chosen)


async def _resolve_options(raised: Raised, chosen: Chosen) -> None:
    resolver, ids = raised.resolver, chosen.ids
    await resolver.users(ids.get("users", ()), "data.options")
    resolver.roles(ids.get("roles", ()), "data.options")
    await resolver.mentionables(ids.get("mentionables", ()), "data.options")
    if channels := ids.get("channels"):
        kinds: dict[int, list[int]] = {}
        for each in channels:
            types = chosen.declared[each].channel_types
            kinds[each] = types if isinstance(types, list) else []
        await resolver.channels(channels, kinds, "data.options")
    if files := ids.get("attachments"):
        _resolve_files(raised, files)


def _resolve_files(raised: Raised, wanted: list[Snowflake]) -> dict[int, str]:
    """The files that came with the request, as attachments, under the ids that the request calls them by.

    The application hears of them by ids of ours; what is answered is their names by the client's ids.
    """
    most = allowance_in(raised.place.guild).each
    if any(file.size > most for file in raised.ctx.files):
        raise Refusal(errors.REQUEST_TOO_LARGE)
    described = _attachments(raised.body.data.get("attachments"), raised.found)
    uploaded = Uploaded.of(raised.ctx, raised.place.id)
    files = attach(described, uploaded, raised.found)
    by_index = dict(zip(sorted(file.index for file in uploaded.files), files, strict=False))
    for each in wanted:
        if int(each) not in by_index:
            raised.found.add("data.attachments", FormCode.BASE_TYPE_CHOICES, f"There is no file {int(each)}.")
    raised.resolver.attachments(by_index[int(each)] for each in wanted if int(each) in by_index)
    raised.metadata["files"] = {str(index): str(int(file.id)) for index, file in by_index.items()}
    return {index: file.filename for index, file in by_index.items()}


def _attachments(given: Any, found: FormErrors) -> list[AttachmentInput]:
    if given is None:
        return []
    try:
        listed: list[AttachmentInput] = convert(given, list[AttachmentInput])
    except ValueError as problem:
        found.add("data.attachments", FormCode.LIST_TYPE_CONVERT, str(problem)[:200])
        return []
    return listed


async def _read_target(raised: Raised, command: Command) -> None:
    target = _id_at(raised.body.data, "target_id")
    raised.data["target_id"] = str(int(target))
    if command.type == CommandType.USER:
        await raised.resolver.users([target], "data.target_id")
        raised.metadata["target_user"] = raised.resolver.resolved.get("users", {}).get(str(int(target)))
        return
    bot_id = UserId(raised.application.id)
    found = await message_bytes(raised.ctx.tx, raised.place.id, [int(target)], Viewer(bot_id))
    if int(target) not in found or not raised.ctx.has(Permissions.READ_MESSAGE_HISTORY):
        raise Refusal(errors.UNKNOWN_MESSAGE)
    raised.resolver.message(target, found[int(target)])
    raised.metadata["target_message_id"] = str(int(target))


async def _use_component(raised: Raised) -> None:
    ctx, body = raised.ctx, raised.body
    if body.message_id is None:
        refuse_field("message_id", *FieldError.required())
    source = await find_source(ctx, raised.place, body.message_id, raised.application.id)
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


async def _hand_in_modal(raised: Raised) -> None:
    ctx, data = raised.ctx, raised.body.data
    row = await queries.select_interaction(ctx.tx, InteractionId(_id_at(data, "id")))
    if (
        row is None
        or row.modal is None
        or row.user_id != ctx.actor.user_id
        or row.application_id != raised.application.id
        or row.channel_id != raised.place.id
        or row.modal["custom_id"] != data.get("custom_id", row.modal["custom_id"])
    ):
        raise Refusal(errors.UNKNOWN_INTERACTION)
    modal: Modal = convert(row.modal, Modal)
    names = _resolve_files(raised, []) if ctx.files else None
    answers = read_modal_submission(modal, data.get("components"), raised.found.at("data"), files=names)
    if raised.found:
        return
    raised.owners = row.owners
    raised.name = row.name
    given = raised.metadata.pop("files", {})
    resolver = raised.resolver
    for answer in answers:
        if answer.ids and isinstance(answer.field, Select):
            await resolve_select(resolver, answer.field, answer.ids, "data.components")
        elif answer.ids:
            _resolve_files(raised, answer.ids)
            raised.metadata.pop("files", None)
            answer.value[:] = [given[value] for value in answer.value if value in given]
    raised.data = {"custom_id": modal.custom_id, "components": submitted(modal, answers)}
    raised.metadata["triggering_interaction_metadata"] = row.metadata
    # It is handed in once.
    await queries.update_interaction(ctx.tx, row.id, modal=None)
    if row.source_id is not None and row.source_room_id is not None:
        raised.source = row.source_room_id, row.source_id
        found = await message_bytes(ctx.tx, row.source_room_id, [row.source_id], Viewer(UserId(row.application_id)))
        if row.source_id in found:
            raised.message = Raw(found[row.source_id])


async def _default_owners(raised: Raised) -> dict[str, str]:
    owners = await owners_of(
        raised.ctx, raised.place, raised.application.id, [IntegrationType.GUILD_INSTALL, IntegrationType.USER_INSTALL]
    )
    return owners or ({"0": str(int(raised.place.guild.id))} if raised.place.guild is not None else {"0": "0"})


async def _tell(raised: Raised) -> None:
    """Store the interaction and deliver it, once it is durable."""
    ctx, place, body = raised.ctx, raised.place, raised.body
    interaction_id = InteractionId(ctx.ids.next())
    token = new_token(_TOKEN_LENGTH)
    user = await select_user(ctx.tx, ctx.actor.user_id)
    if user is None:
        raise Refusal(errors.NOT_AUTHENTICATED)
    shown = to_plain(user_from_row(user))
    member: dict[str, Any] | UnsetType = UNSET
    if place.guild is not None:
        row = await get_member(ctx.tx, place.guild.id, ctx.actor.user_id)
        if row is None:
            raise Refusal(errors.UNKNOWN_MEMBER)
        member = whole_member(await member_object(ctx.tx, row), place.permissions)
    files = raised.metadata.pop("files", None)
    if files:
        _rename_files(raised.data.get("options", []), files)
    metadata = {
        "id": str(int(interaction_id)),
        "type": body.type,
        "user": shown,
        "authorizing_integration_owners": raised.owners,
        **{key: value for key, value in raised.metadata.items() if value is not None},
    }
    if raised.name is not None and body.type == InteractionType.APPLICATION_COMMAND:
        metadata |= {"name": raised.name, "command_type": raised.data["type"]}
    await queries.insert_interaction(
        ctx.tx,
        InteractionRow(
            id=interaction_id,
            application_id=raised.application.id,
            user_id=ctx.actor.user_id,
            guild_id=None if place.guild is None else GuildId(place.guild.id),
            channel_id=place.id,
            type=body.type,
            token_hash=hash_token(token),
            state=InteractionState.WAITING,
            callback=None,
            nonce=body.nonce_text,
            name=raised.name,
            owners=raised.owners,
            metadata=metadata,
            source_id=None if raised.source is None else raised.source[1],
            source_room_id=None if raised.source is None else raised.source[0],
            response_id=None,
            response_room_id=None,
            modal=None,
            followups=0,
            created_at=ctx.now,
        ),
    )
    guild = place.guild
    told = Interaction(
        id=interaction_id,
        application_id=raised.application.id,
        type=body.type,
        data=raised.data,
        guild=UNSET
        if guild is None
        else {
            "id": str(int(guild.id)),
            "locale": guild.row.preferred_locale,
            "features": guild.row.features,
        },
        guild_id=UNSET if guild is None else GuildId(guild.id),
        channel=partial_channel(place.channel, place.permissions),
        channel_id=place.id,
        member=member,
        user=shown if guild is None else UNSET,
        token=token,
        message=raised.message,
        app_permissions=PermissionSet(await app_permissions(ctx, place, raised.application.id)).wire(),
        locale=user.locale,
        guild_locale=UNSET if guild is None else guild.row.preferred_locale,
        authorizing_integration_owners=raised.owners,
        context=int(context_of(place, raised.application.id)),
        attachment_size_limit=allowance_in(guild).each,
    )
    await deliver(ctx, raised.application, told, body.nonce_text)


async def app_permissions(ctx: Context, place: ChannelPlace, application_id: ApplicationId) -> int:
    """What an application's bot may do where an interaction happens."""
    if place.guild is None:
        bits = int(DIRECT_PERMISSIONS)
        if context_of(place, application_id) is InteractionContext.BOT_DM:
            bits |= Permissions.USE_EXTERNAL_EMOJIS
        return bits
    seen = await find_channel(ctx.services.states, ctx.tx, place.id, UserId(application_id), ctx.now, writes=ctx.writes)
    if seen is not None and seen.member is not None:
        return seen.permissions
    return int(DIRECT_PERMISSIONS)


def _rename_files(options: list[dict[str, Any]], files: Mapping[str, str]) -> None:
    """Name files by their own ids where the person's client named them by those of its request."""
    for option in options:
        if option["type"] == 11:
            option["value"] = files.get(str(option["value"]), option["value"])
        _rename_files(option.get("options", []), files)


def _id_at(data: Mapping[str, Any], field: str) -> Snowflake:
    try:
        return Snowflake.from_wire(data.get(field))
    except (ValueError, TypeError):
        refuse_field(f"data.{field}", FormCode.NUMBER_TYPE_COERCE, "This is no id.")
