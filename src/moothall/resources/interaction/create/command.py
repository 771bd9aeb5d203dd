"""Read the use of a command, or the autocompletion of one of its options."""

from msgspec import UNSET

from moothall.objects import errors
from moothall.objects.application import ApplicationFlags, IntegrationType
from moothall.objects.command import Command, CommandType, EntryPointHandler, OptionType
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import CommandId, Snowflake, UserId
from moothall.objects.interaction import InteractionType
from moothall.objects.json_object import JsonObject
from moothall.objects.permissions import Permissions
from moothall.resources.channel.thread_activity.rules import require_unlocked
from moothall.resources.component.submissions import fits_types
from moothall.resources.interaction.command.objects import command_object
from moothall.resources.interaction.command.queries import GLOBAL_SCOPE, CommandRow, select_command_by_id
from moothall.resources.interaction.create.command_options import OptionValues, read_options
from moothall.resources.interaction.create.draft import InteractionDraft, read_id
from moothall.resources.interaction.rules import authorizing_owners, require_command_usable
from moothall.resources.message.rendering import Viewer, message_bytes


async def read_command(draft: InteractionDraft) -> None:
    """Read a command's options or its target into the draft, if the caller may use the command here.

    Raises Refusal: 404/10063, 403/50013, 403/160005 in a locked thread, 404/10008 for an unknown target, 50035.
    """
    ctx, access = draft.ctx, draft.access
    row = await _find_command(draft)
    command = command_object(row)
    entry_point = command.type == CommandType.PRIMARY_ENTRY_POINT
    if entry_point and not draft.application.flags & ApplicationFlags.EMBEDDED:
        raise Refusal(errors.UNKNOWN_APPLICATION_COMMAND)
    supported = (
        command.integration_types if isinstance(command.integration_types, list) else [IntegrationType.GUILD_INSTALL]
    )
    draft.owners = await authorizing_owners(ctx, access, draft.application.id, supported)
    await require_command_usable(ctx, access, command, draft.owners)
    require_unlocked(ctx)
    _check_version_and_type(draft, row, command)
    draft.data = {"id": str(int(command.id)), "name": command.name, "type": int(command.type)}
    if isinstance(command.guild_id, int):
        draft.data["guild_id"] = str(int(command.guild_id))
    draft.command_name = command.name
    draft.launches_activity = command.handler == EntryPointHandler.LAUNCH_ACTIVITY
    autocomplete = draft.body.type == InteractionType.APPLICATION_COMMAND_AUTOCOMPLETE
    if command.type == CommandType.CHAT_INPUT:
        await _read_options(draft, command, autocomplete=autocomplete)
    elif autocomplete:
        refuse_field("type", FormCode.BASE_TYPE_CHOICES, "Only slash commands have autocomplete.")
    elif not entry_point:
        await _read_target(draft, command)


async def _find_command(draft: InteractionDraft) -> CommandRow:
    guild = draft.access.guild
    row = await select_command_by_id(draft.ctx.tx, CommandId(read_id(draft.body.data, "id")))
    scopes = {GLOBAL_SCOPE, GLOBAL_SCOPE if guild is None else guild.id}
    if row is None or row.application_id != draft.application.id or row.guild_id not in scopes:
        raise Refusal(errors.UNKNOWN_APPLICATION_COMMAND)
    return row


def _check_version_and_type(draft: InteractionDraft, row: CommandRow, command: Command) -> None:
    data = draft.body.data
    if "version" in data and str(data["version"]) != str(int(row.version)):
        refuse_field(
            "data.version",
            "INTERACTION_APPLICATION_COMMAND_INVALID_VERSION",
            "This command is outdated, please try again in a few minutes",
        )
    if data.get("type", command.type) != command.type:
        refuse_field("data.type", FormCode.BASE_TYPE_CHOICES, f"The command is of type {int(command.type)}.")


async def _read_options(draft: InteractionDraft, command: Command, *, autocomplete: bool) -> None:
    declared = [] if command.options is UNSET else command.options
    form_errors = draft.form_errors.at("data")
    values = read_options(declared, draft.body.data.get("options"), form_errors, autocomplete=autocomplete)
    draft.data["options"] = values.options
    draft.command_name = " ".join([command.name, *values.path])
    if values.focused is not None:
        draft.metadata["option_type"] = int(values.focused.type)
    if not draft.form_errors:
        await _resolve_options(draft, values, autocomplete=autocomplete)


async def _resolve_options(draft: InteractionDraft, values: OptionValues, *, autocomplete: bool) -> None:
    resolver, ids = draft.resolver, values.ids
    await resolver.users(ids.get("users", ()), "data.options")
    resolver.roles(ids.get("roles", ()), "data.options")
    await resolver.mentionables(ids.get("mentionables", ()), "data.options")
    if channels := ids.get("channels"):
        types_by_id: dict[int, list[int]] = {}
        for channel_id in channels:
            types = values.options_by_id[channel_id].channel_types
            types_by_id[channel_id] = types if isinstance(types, list) else []
        await resolver.channels(channels, types_by_id, "data.options")
    if (numbers := ids.get("attachments")) and not autocomplete:
        await _resolve_files(draft, values, numbers)


async def _resolve_files(draft: InteractionDraft, values: OptionValues, numbers: list[Snowflake]) -> None:
    files = await draft.read_files()
    id_by_number: dict[str, str] = {}
    for number in numbers:
        file = files.take(number)
        if file is None:
            continue
        types = values.options_by_id[number].file_types
        if isinstance(types, list) and types and not fits_types(file.filename, types):
            text = f"{file.filename!r} has none of the allowed file types."
            draft.form_errors.add("data.options", FormCode.CONTENT_TYPE_INVALID, text)
        draft.resolver.attachment(file.id, files.to_json(file))
        id_by_number[str(int(number))] = str(int(file.id))
    _replace_numbers(draft.data["options"], id_by_number)


def _replace_numbers(options: list[JsonObject], id_by_number: dict[str, str]) -> None:
    """Replace the numbers of uploaded files in the options by the ids of their attachments."""
    for option in options:
        if option["type"] == OptionType.ATTACHMENT:
            option["value"] = id_by_number.get(str(option["value"]), option["value"])
        _replace_numbers(option.get("options", []), id_by_number)


async def _read_target(draft: InteractionDraft, command: Command) -> None:
    target_id = read_id(draft.body.data, "target_id")
    draft.data["target_id"] = str(int(target_id))
    if command.type == CommandType.USER:
        await draft.resolver.users([target_id], "data.target_id")
        draft.metadata["target_user"] = draft.resolver.resolved.get("users", {}).get(str(int(target_id)))
        return
    viewer = Viewer(UserId(draft.application.id))
    messages = await message_bytes(draft.ctx.tx, draft.access.id, [int(target_id)], viewer)
    if int(target_id) not in messages or not draft.ctx.has(Permissions.READ_MESSAGE_HISTORY):
        raise Refusal(errors.UNKNOWN_MESSAGE)
    draft.resolver.message(target_id, messages[int(target_id)])
    draft.metadata["target_message_id"] = str(int(target_id))
