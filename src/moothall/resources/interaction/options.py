"""The values that somebody gives a command, checked against what it declares (interactions: application commands).

Pure: whether what they name exists is looked up by `resolving`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET, Struct

from moothall.objects.command import SUBCOMMANDS, Option, OptionType
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import Snowflake

_NAMED: Final = {
    OptionType.USER: "users",
    OptionType.CHANNEL: "channels",
    OptionType.ROLE: "roles",
    OptionType.MENTIONABLE: "mentionables",
    OptionType.ATTACHMENT: "attachments",
}
_TEXT_MAX: Final = 6000
_NUMBER_MAX: Final = 2**53


class Chosen(Struct, frozen=True, kw_only=True):
    """What was given, as the application hears it, and what it names."""

    options: list[dict[str, Any]]
    path: list[str]
    """The names of the group and the subcommand."""
    ids: dict[str, list[Snowflake]]
    """What is named, by kind: users, channels, roles, mentionables, attachments."""
    declared: dict[int, Option]
    """The option that named a channel or a file, by its id."""
    focused: tuple[Option, Any] | None = None
    """In an autocompletion, the option that is being typed into, and what stands there."""


def read_options(
    declared: Sequence[Option], given: Any, form_errors: FormErrors, *, completing: bool = False
) -> Chosen:
    """Check the options of a command; what is wrong is added to `form_errors` below `options`.

    While `completing`, required ones may be missing, values be no choice, and exactly one is focused.
    """
    reading = _Reading(form_errors, completing=completing)
    options = reading.level(declared, given, ("options",))
    if completing and not form_errors and reading.focused is None:
        form_errors.add("options", FormCode.BASE_TYPE_REQUIRED, "No option is focused that completes what is typed.")
    return Chosen(
        options=options,
        path=reading.path,
        ids=reading.ids,
        declared=reading.declared,
        focused=reading.focused,
    )


class _Reading:
    def __init__(self, form_errors: FormErrors, *, completing: bool) -> None:
        self.found = form_errors
        self.completing = completing
        self.path: list[str] = []
        self.ids: dict[str, list[Snowflake]] = {}
        self.declared: dict[int, Option] = {}
        self.focused: tuple[Option, Any] | None = None

    def level(self, declared: Sequence[Option], given: Any, at: tuple[str | int, ...]) -> list[dict[str, Any]]:
        """The options of one level: of the command, a group or a subcommand."""
        listed = [] if given is None else given
        if not isinstance(listed, list) or len(listed) > len(declared):
            self.found.add(at, FormCode.LIST_TYPE_CONVERT, "These are not options of the command.")
            return []
        by_name = {option.name: option for option in declared}
        seen: set[str] = set()
        done: list[dict[str, Any]] = []
        for index, each in enumerate(listed):
            here = (*at, index)
            option = by_name.get(str(each.get("name"))) if isinstance(each, dict) else None
            if option is None or option.name in seen:
                self.found.add((*here, "name"), FormCode.BASE_TYPE_CHOICES, "No such option, or not twice.")
                continue
            seen.add(option.name)
            if each.get("type", option.type) != option.type:
                self.found.add((*here, "type"), *FieldError.choices((option.type,)))
                continue
            done.append(self._one(option, each, here))
        branches = any(option.type in SUBCOMMANDS for option in declared)
        if branches and len(seen) != 1:
            self.found.add(at, FormCode.BASE_TYPE_REQUIRED, "One subcommand must be chosen.")
        elif not branches and not self.completing:
            for option in declared:
                if option.required is True and option.name not in seen:
                    self.found.add((*at, option.name), *FieldError.required())
        return done

    def _one(self, option: Option, given: Mapping[str, Any], at: tuple[str | int, ...]) -> dict[str, Any]:
        told: dict[str, Any] = {"name": option.name, "type": int(option.type)}
        if option.type in SUBCOMMANDS:
            self.path.append(option.name)
            inner = [] if option.options is UNSET else option.options
            told["options"] = self.level(inner, given.get("options"), (*at, "options"))
            return told
        value = given.get("value")
        if self.completing and given.get("focused"):
            if option.autocomplete is not True or self.focused is not None:
                self.found.add((*at, "focused"), FormCode.BASE_TYPE_CHOICES, "This option completes nothing.")
            text = "" if value is None else str(value)[:_TEXT_MAX]
            self.focused = option, text
            return told | {"value": text, "focused": True}
        return told | {"value": self._value(option, value, (*at, "value"))}

    def _value(self, option: Option, value: Any, at: tuple[str | int, ...]) -> Any:
        kind = option.type
        if kind == OptionType.STRING:
            return self._text(option, value, at)
        if kind in {OptionType.INTEGER, OptionType.NUMBER}:
            return self._number(option, value, at)
        if kind == OptionType.BOOLEAN:
            if not isinstance(value, bool):
                self.found.add(at, FormCode.BOOLEAN_TYPE_CONVERT, "Must be either true or false.")
            return value
        try:
            named = Snowflake.from_wire(value)
        except (ValueError, TypeError):
            self.found.add(at, FormCode.NUMBER_TYPE_COERCE, "This is no id.")
            return value
        self.ids.setdefault(_NAMED[OptionType(kind)], []).append(named)
        self.declared[named] = option
        return str(int(named))

    def _text(self, option: Option, value: Any, at: tuple[str | int, ...]) -> Any:
        if not isinstance(value, str):
            self.found.add(at, FormCode.STRING_TYPE_CONVERT, "Could not interpret this value as string.")
            return value
        least = 0 if option.min_length is UNSET else option.min_length
        maximum = _TEXT_MAX if option.max_length is UNSET else option.max_length
        if not least <= len(value) <= maximum:
            self.found.add(at, *FieldError.length(least or None, maximum))
        self._check_choice(option, value, at)
        return value

    def _number(self, option: Option, value: Any, at: tuple[str | int, ...]) -> Any:
        whole = option.type == OptionType.INTEGER
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
            self.found.add(at, FormCode.NUMBER_TYPE_COERCE, "Value is not a number of this option's type.")
            return value
        bound = _NUMBER_MAX - 1 if whole else _NUMBER_MAX
        least = -bound if option.min_value is UNSET else option.min_value
        maximum = bound if option.max_value is UNSET else option.max_value
        if value < least:
            self.found.add(at, FormCode.NUMBER_TYPE_MIN, f"Must be greater than or equal to {least}.")
        elif value > maximum:
            self.found.add(at, FormCode.NUMBER_TYPE_MAX, f"Must be less than or equal to {maximum}.")
        self._check_choice(option, value, at)
        return value

    def _check_choice(self, option: Option, value: Any, at: tuple[str | int, ...]) -> None:
        if option.choices is UNSET or self.completing:
            return
        values = [choice.value for choice in option.choices]
        if value not in values:
            self.found.add(at, *FieldError.choices(tuple(map(str, values))))
