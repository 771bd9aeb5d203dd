"""Reading values that msgspec refuses: coercion of scalars, and every error of the rest, each at its exact path.

Clients write `10.0` for 10, `"10"` for 10, 10 for `"10"` and `"false"` for false; the public API takes these as the
type that the field has. msgspec refuses them, and stops at the first error. `coerce` visits the same type again,
replaces such scalars and collects all errors, in the public API's codes. It runs only for values that msgspec has
refused.
"""

import json
import operator
import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import msgspec
from msgspec import inspect as shapes

from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.wire import convert

Path = list[str | int]

MAX_LIST_ERRORS: Final = 500
"""A list of a million invalid items gets this many errors, not a million."""
MAX_ERRORS: Final = 1_000
"""A body gets no more errors than this and one, in whatever lists they are."""
MAX_VALUES: Final = 20_000
"""Values of one body that are visited; a body with more is refused."""

_INTEGER: Final = re.compile(r"-?[0-9]{1,20}(?:\.0{1,6})?")
_NUMBER: Final = re.compile(r"-?[0-9]{1,20}(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,3})?")
_BOOLEANS: Final = {"true": True, "True": True, "1": True, "false": False, "False": False, "0": False}


@cache
def shape_of(kind: object) -> shapes.Type:
    """The type as msgspec describes it."""
    return shapes.type_info(kind)


def read_plain(kind: object, value: object, path: Sequence[str | int], form_errors: FormErrors) -> Any:
    """Convert parsed JSON to a `kind`, coercing scalars.

    Returns None if it cannot be one; every reason is then in `form_errors`, below `path`.
    """
    try:
        return convert(value, kind)
    except msgspec.ValidationError:
        return convert_coerced(kind, coerce(kind, value, path, errors := FormErrors()), path, errors, form_errors)


def convert_coerced(
    kind: object, coerced: object, path: Sequence[str | int], errors: FormErrors, form_errors: FormErrors
) -> Any:
    """Convert what `coerce` returned with `errors`; None after adding them to `form_errors`, if there are any."""
    if not errors:
        try:
            return convert(coerced, kind)
        except msgspec.ValidationError as problem:
            # `coerce` is the twin of msgspec's validation; where it reports nothing, msgspec's message must do.
            errors.add(path, FormCode.BASE_TYPE_CHOICES, str(problem))
    form_errors.merge(errors)
    return None


def coerce(kind: object, value: object, path: Sequence[str | int], form_errors: FormErrors) -> Any:
    """The value with its scalars as the types of `kind`; add to `form_errors` everything that cannot be one.

    The value itself stays unchanged.
    """
    return _Coercion(form_errors).read(shape_of(kind), value, list(path))


def as_integer(value: object) -> int | None:
    """The integer that a scalar of JSON stands for: an integral number or its text. None for any other value."""
    if type(value) is int:
        return value
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        return int(value.partition(".")[0])
    return None


def as_number(value: object) -> float | None:
    """The number that a scalar of JSON stands for; None for any other value."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return float(value)
    return None


def as_text(value: object) -> str | None:
    """The text that a scalar of JSON stands for: a string, or a number as JSON writes it. None for any other value."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return json.dumps(value)
    except ValueError:
        return None  # Python writes no integer of thousands of digits


_Items = shapes.ListType | shapes.SetType | shapes.VarTupleType
_Sized = _Items | shapes.DictType | shapes.StrType


class _Coercion:
    """One visit of a value and its type."""

    def __init__(self, form_errors: FormErrors, *, visited: int = 0) -> None:
        self._form_errors = form_errors
        self._added = 0
        self._visited = visited

    def read(self, shape: shapes.Type, value: object, path: Path) -> object:  # noqa: PLR0911 one for each kind of type
        """The value with its scalars as the type."""
        self._visited += 1
        if isinstance(shape, shapes.Metadata):
            shape = shape.type
        if isinstance(shape, shapes.UnionType):
            return self._read_union(shape, value, path)
        if isinstance(shape, shapes.StructType):
            return self._read_struct(shape, value, path)
        if isinstance(shape, _Items):
            return self._read_list(shape, value, path)
        if isinstance(shape, shapes.DictType):
            return self._read_dict(shape, value, path)
        if isinstance(shape, shapes.AnyType | shapes.RawType):
            return value
        if value is None and not isinstance(shape, shapes.NoneType):
            return self._add(path, FieldError.required())
        if isinstance(shape, shapes.CustomType):
            return self._read_custom(shape, value, path)
        return self._read_scalar(shape, value, path)

    def _add(self, path: Path, error: FieldError) -> object:
        """Note an error; None, in the place of a value that cannot be one."""
        self._added += 1
        self._form_errors.add(path, *error)
        return None

    def _read_union(self, shape: shapes.UnionType, value: object, path: Path) -> object:
        if value is None and shape.includes_none:
            return None
        options = [option for option in shape.types if not isinstance(option, shapes.NoneType)]
        # What needs no coercion comes first: `"10"` is the text where both texts and integers are allowed.
        ordered = [option for option in options if _is_of_json_type(option, value)] or options
        if len(ordered) > 1 or len(ordered) < len(options):
            for option in (*ordered, *(option for option in options if option not in ordered)):
                attempt = _Coercion(FormErrors(), visited=self._visited)
                result = attempt.read(option, value, path)
                self._visited = attempt._visited
                if not attempt._added:
                    return result
        return self.read(ordered[0], value, path)

    def _read_struct(self, shape: shapes.StructType, value: object, path: Path) -> object:
        if not isinstance(value, dict):
            return self._add(
                path, FieldError(FormCode.MODEL_TYPE_CONVERT, "Only dictionaries may be used in a ModelType")
            )
        result = dict(value)
        for field in shape.fields:
            name = field.encode_name
            if name in value:
                result[name] = self.read(field.type, value[name], [*path, name])
            elif field.required:
                self._add([*path, name], FieldError.required())
        return result

    def _read_list(self, shape: _Items, value: object, path: Path) -> object:
        if not isinstance(value, list):
            return self._add(path, FieldError(FormCode.LIST_TYPE_CONVERT, "Only iterables may be used in a ListType"))
        if not self._check_length(shape, len(value), path):
            return value
        result, limit = list(value), self._added + MAX_LIST_ERRORS
        for index, item in enumerate(value):
            if self._is_exhausted(limit, path):
                break
            result[index] = self.read(shape.item_type, item, [*path, index])
        return result

    def _read_dict(self, shape: shapes.DictType, value: object, path: Path) -> object:
        if not isinstance(value, dict):
            return self._add(
                path, FieldError(FormCode.MODEL_TYPE_CONVERT, "Only dictionaries may be used in a DictType")
            )
        if not self._check_length(shape, len(value), path):
            return value
        result, limit = dict(value), self._added + MAX_LIST_ERRORS
        for key, item in value.items():
            if self._is_exhausted(limit, path):
                break
            result[key] = self.read(shape.value_type, item, [*path, str(key)])
        return result

    def _is_exhausted(self, max_errors: int, path: Path) -> bool:
        """Whether to stop in a list: after many errors, and with another one after very many values."""
        if self._visited > MAX_VALUES:
            self._add(path, FieldError.length(None, MAX_VALUES))
            return True
        return self._added >= min(max_errors, MAX_ERRORS)

    def _check_length(self, shape: _Sized, length: int, path: Path) -> bool:
        minimum, maximum = shape.min_length or 0, shape.max_length
        if length >= minimum and (maximum is None or length <= maximum):
            return True
        self._add(path, FieldError.length(minimum if minimum or maximum is None else None, maximum))
        return False

    def _read_custom(self, shape: shapes.CustomType, value: object, path: Path) -> object:
        try:
            shape.cls.from_wire(value)  # type: ignore[attr-defined]  # every custom type is a wire scalar
        except ValueError as problem:
            self._add(path, FieldError(getattr(shape.cls, "FORM_CODE", FormCode.NUMBER_TYPE_COERCE), str(problem)))
        return value

    def _read_scalar(self, shape: shapes.Type, value: object, path: Path) -> object:
        if isinstance(shape, shapes.EnumType | shapes.LiteralType):
            return self._read_choice(shape, value, path)
        if isinstance(shape, shapes.BoolType):
            return self._read_boolean(value, path)
        if isinstance(shape, shapes.StrType):
            return self._read_text(shape, value, path)
        if isinstance(shape, shapes.IntType):
            number = as_integer(value)
            return self._check_number(shape, "int", value, number, path)
        if isinstance(shape, shapes.FloatType):
            return self._check_number(shape, "float", value, as_number(value), path)
        if value is not None:
            self._add(path, FieldError(FormCode.BASE_TYPE_CHOICES, "Value must be null."))
        return value

    def _read_choice(self, shape: shapes.EnumType | shapes.LiteralType, value: object, path: Path) -> object:
        choices = [m.value for m in shape.cls] if isinstance(shape, shapes.EnumType) else list(shape.values)
        for choice in (as_integer(value), as_text(value)):
            if choice is not None and choice in choices:
                return choice
        listed = ", ".join(str(choice) for choice in choices)
        return self._add(path, FieldError(FormCode.BASE_TYPE_CHOICES, f"Value must be one of {{{listed}}}."))

    def _read_boolean(self, value: object, path: Path) -> object:
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value in _BOOLEANS:
            return _BOOLEANS[value]
        return self._add(path, FieldError(FormCode.BOOLEAN_TYPE_CONVERT, "Must be either true or false."))

    def _read_text(self, shape: shapes.StrType, value: object, path: Path) -> object:
        text = as_text(value)
        if text is None:
            shown = f"Could not interpret {str(value)[:40]!r} as string."
            return self._add(path, FieldError(FormCode.STRING_TYPE_CONVERT, shown))
        fits = self._check_length(shape, len(text), path)
        if fits and shape.pattern is not None and re.search(shape.pattern, text) is None:
            self._add(path, FieldError(FormCode.STRING_TYPE_REGEX, "String value did not match validation regex."))
        return text

    def _check_number(
        self, shape: shapes.IntType | shapes.FloatType, name: str, value: object, number: float | None, path: Path
    ) -> object:
        if number is None:
            shown = f"Value {str(value)[:40]!r} is not {name}."
            return self._add(path, FieldError(FormCode.NUMBER_TYPE_COERCE, shown))
        for bound, breaks, code, words in (
            (shape.ge, operator.lt, FormCode.NUMBER_TYPE_MIN, "greater than or equal to"),
            (shape.gt, operator.le, FormCode.NUMBER_TYPE_MIN, "greater than"),
            (shape.le, operator.gt, FormCode.NUMBER_TYPE_MAX, "less than or equal to"),
            (shape.lt, operator.ge, FormCode.NUMBER_TYPE_MAX, "less than"),
        ):
            if bound is not None and breaks(number, bound):
                self._add(path, FieldError(code, f"{name} value should be {words} {bound}."))
                break
        return number


def _is_of_json_type(shape: shapes.Type, value: object) -> bool:
    """Whether a type takes values of this value's JSON type, without coercion."""
    if isinstance(shape, shapes.Metadata):
        shape = shape.type
    if isinstance(shape, shapes.CustomType):
        return isinstance(value, str | int)
    if isinstance(shape, shapes.EnumType | shapes.LiteralType):
        choices = [m.value for m in shape.cls] if isinstance(shape, shapes.EnumType) else list(shape.values)
        return not isinstance(value, bool) and any(type(choice) is type(value) for choice in choices)
    for json_type, kinds in _JSON_TYPES:
        if isinstance(value, json_type):
            return isinstance(shape, kinds)
    return False


_JSON_TYPES: Final[tuple[tuple[type, tuple[type[shapes.Type], ...]], ...]] = (
    (dict, (shapes.StructType, shapes.DictType)),
    (list, (shapes.ListType, shapes.SetType, shapes.VarTupleType)),
    (str, (shapes.StrType,)),
    (bool, (shapes.BoolType,)),
    (int, (shapes.IntType, shapes.FloatType)),
    (float, (shapes.FloatType,)),
)
