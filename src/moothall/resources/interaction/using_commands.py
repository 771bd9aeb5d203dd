"""Somebody uses a command, or types into an option that completes what is typed."""

from typing import Any

from msgspec import UNSET

from moothall.objects import errors
from moothall.objects.application import ApplicationFlags, IntegrationType
from moothall.objects.command import Command, CommandType, OptionType
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import CommandId, Snowflake, UserId
from moothall.objects.permissions import Permissions
from moothall.resources.channel.thread_activity.rules import require_unlocked
from moothall.resources.component.submissions import fits_types
from moothall.resources.interaction.command.objects import command_object
from moothall.resources.interaction.command.queries import EVERYWHERE, select_by_id
from moothall.resources.interaction.options import Chosen, read_options
from moothall.resources.interaction.raised import Raised, id_at
from moothall.resources.interaction.rules import owners_of, require_usable
from moothall.resources.message.pages import Viewer, message_bytes


async def use_command(raised: Raised, *, completing: bool) -> Command:
    """Check the use of a command and read its options or its target; the command.

    Raises Refusal: 404/10063, 403/50013, 403/160005 in a locked thread, 404/10008 for an unknown target, 50035.
    """
    ctx, access, data = raised.ctx, raised.access, raised.body.data
    row = await select_by_id(ctx.tx, CommandId(id_at(data, "id")))
    here = EVERYWHERE if access.guild is None else access.guild.id
    if row is None or row.application_id != raised.application.id or row.guild_id not in {EVERYWHERE, here}:
        raise Refusal(errors.UNKNOWN_APPLICATION_COMMAND)
    command = command_object(row)
    entry = command.type == CommandType.PRIMARY_ENTRY_POINT
    if entry and not raised.application.flags & ApplicationFlags.EMBEDDED:
        raise Refusal(errors.UNKNOWN_APPLICATION_COMMAND)
    supported = (
        command.integration_types if isinstance(command.integration_types, list) else [IntegrationType.GUILD_INSTALL]
    )
    raised.owners = await owners_of(ctx, access, raised.application.id, supported)
    await require_usable(ctx, access, command, raised.owners)
    require_unlocked(ctx)
    if "version" in data and str(data["version"]) != str(int(row.version)):
        refuse_field(
            "data.version",
            "INTERACTION_APPLICATION_COMMAND_INVALID_VERSION",
            "This command is outdated, please try again in a few minutes",
        )
    if data.get("type", command.type) != command.type:
        refuse_field("data.type", FormCode.BASE_TYPE_CHOICES, f"The command is of type {int(command.type)}.")
    raised.data = {"id": str(int(command.id)), "name": command.name, "type": int(command.type)}
    if isinstance(command.guild_id, int):
        raised.data["guild_id"] = str(int(command.guild_id))
    raised.name = command.name
    if command.type == CommandType.CHAT_INPUT:
        await _read_slash(raised, command, completing=completing)
    elif completing:
        refuse_field("type", FormCode.BASE_TYPE_CHOICES, "Only slash commands complete what is typed.")
    elif not entry:
        await _read_target(raised, command)
    return command


async def _read_slash(raised: Raised, command: Command, *, completing: bool) -> None:
    declared = [] if command.options is UNSET else command.options
    found = raised.found.at("data")
    chosen = read_options(declared, raised.body.data.get("options"), found, completing=completing)
    raised.data["options"] = chosen.options
    raised.name = " ".join([command.name, *chosen.path])
    if chosen.focused is not None:
        raised.metadata["option_type"] = int(chosen.focused[0].type)
    if not raised.found:
        await _resolve_options(raised, chosen, completing=completing)


async def _resolve_options(raised: Raised, chosen: Chosen, *, completing: bool) -> None:
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
    if (files := ids.get("attachments")) and not completing:
        _take_files(raised, chosen, files)


def _take_files(raised: Raised, chosen: Chosen, wanted: list[Snowflake]) -> None:
    handed_in = raised.hand_in()
    renamed: dict[str, str] = {}
    for each in wanted:
        file = handed_in.take(each)
        if file is None:
            continue
        kinds = chosen.declared[each].file_types
        if isinstance(kinds, list) and kinds and not fits_types(file.filename, kinds):
            told = f"{file.filename!r} is of none of the types asked for."
            raised.found.add("data.options", FormCode.CONTENT_TYPE_INVALID, told)
        raised.resolver.attachment(file.id, handed_in.shown(file))
        renamed[str(int(each))] = str(int(file.id))
    _rename_files(raised.data["options"], renamed)


def _rename_files(options: list[dict[str, Any]], files: dict[str, str]) -> None:
    """Name files by their own ids where the person's client named them by those of its request."""
    for option in options:
        if option["type"] == OptionType.ATTACHMENT:
            option["value"] = files.get(str(option["value"]), option["value"])
        _rename_files(option.get("options", []), files)


async def _read_target(raised: Raised, command: Command) -> None:
    target = id_at(raised.body.data, "target_id")
    raised.data["target_id"] = str(int(target))
    if command.type == CommandType.USER:
        await raised.resolver.users([target], "data.target_id")
        raised.metadata["target_user"] = raised.resolver.resolved.get("users", {}).get(str(int(target)))
        return
    bot_id = UserId(raised.application.id)
    found = await message_bytes(raised.ctx.tx, raised.access.id, [int(target)], Viewer(bot_id))
    if int(target) not in found or not raised.ctx.has(Permissions.READ_MESSAGE_HISTORY):
        raise Refusal(errors.UNKNOWN_MESSAGE)
    raised.resolver.message(target, found[int(target)])
    raised.metadata["target_message_id"] = str(int(target))
