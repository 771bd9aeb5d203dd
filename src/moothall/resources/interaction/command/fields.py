"""The fields of request bodies that create or change application commands."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.application import IntegrationType
from moothall.objects.channel_types import ChannelType
from moothall.objects.command import EntryPointHandler, InteractionContext, OptionType
from moothall.objects.permissions import PermissionSet

Name = Annotated[str, Meta(min_length=1, max_length=limits.COMMAND_NAME_MAX)]
Description = Annotated[str, Meta(max_length=limits.COMMAND_DESCRIPTION_MAX)]
ChoiceName = Annotated[str, Meta(min_length=1, max_length=limits.COMMAND_CHOICE_MAX)]
Texts = dict[str, str] | None


class ChoiceInput(Struct, frozen=True, kw_only=True):
    """An Application Command Option Choice."""

    name: ChoiceName
    name_localizations: Texts = None
    value: str | int | float


class OptionInput(Struct, frozen=True, kw_only=True):
    """An Application Command Option; a null field means the same as an absent one."""

    type: OptionType
    name: Name
    name_localizations: Texts = None
    description: Annotated[str, Meta(min_length=1, max_length=limits.COMMAND_DESCRIPTION_MAX)]
    description_localizations: Texts = None
    required: bool | None = None
    choices: Annotated[list[ChoiceInput], Meta(max_length=limits.COMMAND_CHOICES_MAX)] | None = None
    options: "Annotated[list[OptionInput], Meta(max_length=limits.COMMAND_OPTIONS_MAX)] | None" = None
    channel_types: list[ChannelType] | None = None
    min_value: int | float | None = None
    max_value: int | float | None = None
    min_length: Annotated[int, Meta(ge=0, le=limits.COMMAND_TEXT_MAX)] | None = None
    max_length: Annotated[int, Meta(ge=1, le=limits.COMMAND_TEXT_MAX)] | None = None
    autocomplete: bool | None = None
    file_types: Annotated[list[str], Meta(max_length=10)] | None = None


Options = Annotated[list[OptionInput], Meta(max_length=limits.COMMAND_OPTIONS_MAX)]
Contexts = Annotated[list[InteractionContext], Meta(min_length=1)]
IntegrationTypes = Annotated[list[IntegrationType], Meta(min_length=1)]


class CommandFields(Struct, frozen=True, kw_only=True):
    """The fields of every request that creates or changes a command."""

    name_localizations: Texts | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    description_localizations: Texts | UnsetType = UNSET
    options: Options | UnsetType | None = UNSET
    default_member_permissions: PermissionSet | UnsetType | None = UNSET
    dm_permission: bool | UnsetType | None = UNSET
    default_permission: bool | UnsetType | None = UNSET
    contexts: Contexts | UnsetType | None = UNSET
    integration_types: IntegrationTypes | UnsetType | None = UNSET
    nsfw: bool | UnsetType | None = UNSET
    handler: EntryPointHandler | UnsetType | None = UNSET
