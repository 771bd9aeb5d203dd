"""Check the option values of a command against its declared options (interactions: application commands).

Pure: `resolved_data` resolves the ids that they refer to.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET, Struct

from moothall.objects.command import SUBCOMMANDS, Option, OptionType
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import Snowflake
from moothall.objects.json_object import JsonObject

_RESOLVED_KEYS: Final = {
    OptionType.USER: "users",
    OptionType.CHANNEL: "channels",
    OptionType.ROLE: "roles",
    OptionType.MENTIONABLE: "mentionables",
    OptionType.ATTACHMENT: "attachments",
}
_TEXT_MAX: Final = 6000
_NUMBER_MAX: Final = 2**53
_Path = tuple[str | int, ...]


class OptionValues(Struct, frozen=True, kw_only=True):
    """The checked option values of a command."""

    options: list[JsonObject]
    """As the application receives them."""
    path: list[str]
    """The names of the subcommand group and the subcommand."""
    ids: dict[str, list[Snowflake]]
    """The ids among the values, by users, channels, roles, mentionables and attachments."""
    options_by_id: dict[int, Option]
    """The declared option of each of `ids`."""
    focused: Option | None = None
    """The declared option that is to be autocompleted."""


def read_options(
    declared: Sequence[Option], options: object, form_errors: FormErrors, *, autocomplete: bool = False
) -> OptionValues:
    """Check the options of a request; invalid ones are added to `form_errors` below `options`.

    With `autocomplete`, required options may be missing, values need not be choices, and exactly one is focused.
    """
    reader = _OptionReader(form_errors, autocomplete=autocomplete)
    values = reader.read_level(declared, options, ("options",))
    if autocomplete and not form_errors and reader.focused is None:
        form_errors.add("options", FormCode.BASE_TYPE_REQUIRED, "No option with autocomplete is focused.")
    return OptionValues(
        options=values,
        path=reader.path,
        ids=reader.ids,
        options_by_id=reader.options_by_id,
        focused=reader.focused,
    )


class _OptionReader:
    def __init__(self, form_errors: FormErrors, *, autocomplete: bool) -> None:
        self.form_errors = form_errors
        self.autocomplete = autocomplete
        self.path: list[str] = []
        self.ids: dict[str, list[Snowflake]] = {}
        self.options_by_id: dict[int, Option] = {}
        self.focused: Option | None = None

    def read_level(self, declared: Sequence[Option], options: object, at: _Path) -> list[JsonObject]:
        """The options of one level: of the command, a subcommand group or a subcommand."""
        items = [] if options is None else options
        if not isinstance(items, list) or len(items) > len(declared):
            self.form_errors.add(at, FormCode.LIST_TYPE_CONVERT, "These are not options of the command.")
            return []
        by_name = {option.name: option for option in declared}
        names: set[str] = set()
        values: list[dict[str, object]] = []
        for index, item in enumerate(items):
            item_at = (*at, index)
            option = by_name.get(str(item.get("name"))) if isinstance(item, dict) else None
            if option is None or option.name in names:
                self.form_errors.add((*item_at, "name"), FormCode.BASE_TYPE_CHOICES, "Unknown or repeated option.")
                continue
            names.add(option.name)
            if item.get("type", option.type) != option.type:
                self.form_errors.add((*item_at, "type"), *FieldError.choices((option.type,)))
                continue
            values.append(self._read_option(option, item, item_at))
        self._check_required(declared, names, at)
        return values

    def _check_required(self, declared: Sequence[Option], names: set[str], at: _Path) -> None:
        if any(option.type in SUBCOMMANDS for option in declared):
            if len(names) != 1:
                self.form_errors.add(at, FormCode.BASE_TYPE_REQUIRED, "One subcommand must be chosen.")
        elif not self.autocomplete:
            for option in declared:
                if option.required is True and option.name not in names:
                    self.form_errors.add((*at, option.name), *FieldError.required())

    def _read_option(self, option: Option, item: Mapping[str, object], at: _Path) -> JsonObject:
        fields: dict[str, object] = {"name": option.name, "type": int(option.type)}
        if option.type in SUBCOMMANDS:
            self.path.append(option.name)
            inner = [] if option.options is UNSET else option.options
            fields["options"] = self.read_level(inner, item.get("options"), (*at, "options"))
            return fields
        value = item.get("value")
        if self.autocomplete and item.get("focused"):
            if option.autocomplete is not True or self.focused is not None:
                self.form_errors.add((*at, "focused"), FormCode.BASE_TYPE_CHOICES, "This option has no autocomplete.")
            self.focused = option
            return fields | {"value": "" if value is None else str(value)[:_TEXT_MAX], "focused": True}
        return fields | {"value": self._read_value(option, value, (*at, "value"))}

    def _read_value(self, option: Option, value: object, at: _Path) -> Any:
        kind = option.type
        if kind == OptionType.STRING:
            return self._read_text(option, value, at)
        if kind in {OptionType.INTEGER, OptionType.NUMBER}:
            return self._read_number(option, value, at)
        if kind == OptionType.BOOLEAN:
            if not isinstance(value, bool):
                self.form_errors.add(at, FormCode.BOOLEAN_TYPE_CONVERT, "Must be either true or false.")
            return value
        try:
            object_id = Snowflake.from_wire(value)
        except (ValueError, TypeError):
            self.form_errors.add(at, FormCode.NUMBER_TYPE_COERCE, "This is not an id.")
            return value
        self.ids.setdefault(_RESOLVED_KEYS[OptionType(kind)], []).append(object_id)
        self.options_by_id[object_id] = option
        return str(int(object_id))

    def _read_text(self, option: Option, value: object, at: _Path) -> Any:
        if not isinstance(value, str):
            self.form_errors.add(at, FormCode.STRING_TYPE_CONVERT, "Could not interpret this value as string.")
            return value
        minimum = 0 if option.min_length is UNSET else option.min_length
        maximum = _TEXT_MAX if option.max_length is UNSET else option.max_length
        if not minimum <= len(value) <= maximum:
            self.form_errors.add(at, *FieldError.length(minimum or None, maximum))
        self._check_choice(option, value, at)
        return value

    def _read_number(self, option: Option, value: object, at: _Path) -> Any:
        is_integer = option.type == OptionType.INTEGER
        if isinstance(value, bool) or not isinstance(value, int if is_integer else (int, float)):
            self.form_errors.add(at, FormCode.NUMBER_TYPE_COERCE, "Value is not a number of this option's type.")
            return value
        bound = _NUMBER_MAX - 1 if is_integer else _NUMBER_MAX
        minimum = -bound if option.min_value is UNSET else option.min_value
        maximum = bound if option.max_value is UNSET else option.max_value
        if value < minimum:
            self.form_errors.add(at, FormCode.NUMBER_TYPE_MIN, f"Must be greater than or equal to {minimum}.")
        elif value > maximum:
            self.form_errors.add(at, FormCode.NUMBER_TYPE_MAX, f"Must be less than or equal to {maximum}.")
        self._check_choice(option, value, at)
        return value

    def _check_choice(self, option: Option, value: object, at: _Path) -> None:
        if not option.choices or self.autocomplete:
            return
        choices = [choice.value for choice in option.choices]
        if value not in choices:
            self.form_errors.add(at, *FieldError.choices(tuple(map(str, choices))))
