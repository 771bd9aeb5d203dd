"""Request bodies of application commands."""

from msgspec import UNSET, UnsetType

from moothall.objects.command import CommandType
from moothall.objects.errors import FormErrors
from moothall.objects.ids import CommandId
from moothall.resources.interaction.command.fields import CommandFields, Name
from moothall.resources.interaction.command.validation import check_command


class CreateCommand(CommandFields, frozen=True, kw_only=True):
    """A new command; in a bulk overwrite `id` lets a renamed command keep its id."""

    name: Name
    type: CommandType | None = None
    id: CommandId | None = None

    @property
    def kind(self) -> int:
        """The command's type; CHAT_INPUT by default."""
        return int(self.type or CommandType.CHAT_INPUT)

    def check(self, form_errors: FormErrors) -> None:
        """Report what `check_command` finds."""
        check_command(self, self.name, self.kind, form_errors)


class ModifyCommand(CommandFields, frozen=True, kw_only=True):
    """Changes of a command, whose type cannot change."""

    name: Name | UnsetType = UNSET
