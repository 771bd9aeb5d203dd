"""The slow walk: when msgspec has refused a value, every error of it, each at its exact path.

msgspec stops at the first error. This walk visits the same type again and collects them all, in
the public API's codes. It runs only for values that were refused.
"""

import contextlib
from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect as shapes

from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FormCode
from moothall.objects.wire import convert

Path = list[str | int]

_MAX_LIST_ERRORS = 50
"""A list of a million wrong items gets this many errors, not a million."""


@cache
def _shape(kind: Any) -> shapes.Type:
    return shapes.type_info(kind)


def describe_failure(
    kind: Any, value: object, path: Sequence[str | int], form_errors: FormErrors, *, lax: bool = False
) -> None:
    """Add to `form_errors` everything that keeps `value` from being a `kind`.

    `lax`: the value comes from a query string, where text stands for numbers and booleans.
    """
    _walk(_shape(kind), value, list(path), form_errors, lax=lax)


def _walk(shape: shapes.Type, value: object, path: Path, form_errors: FormErrors, *, lax: bool) -> None:  # noqa: PLR0911
    if isinstance(shape, shapes.Metadata):
        return _walk(shape.type, value, path, form_errors, lax=lax)
    if isinstance(shape, shapes.UnionType):
        return _walk_union(shape, value, path, form_errors, lax=lax)
    if isinstance(shape, shapes.StructType):
        return _walk_struct(shape, value, path, form_errors, lax=lax)
    if isinstance(shape, shapes.ListType | shapes.SetType | shapes.VarTupleType):
        return _walk_list(shape, value, path, form_errors, lax=lax)
    if isinstance(shape, shapes.DictType):
        return _walk_dict(shape, value, path, form_errors, lax=lax)
    if isinstance(shape, shapes.AnyType | shapes.RawType):
        return None
    if value is None and not isinstance(shape, shapes.NoneType):
        return form_errors.add(path, FormCode.BASE_TYPE_REQUIRED, "This field is required")
    if isinstance(shape, shapes.CustomType):
        return _try_custom(shape, value, path, form_errors)
    return _walk_plain(shape, value, path, form_errors, lax=lax)


def _walk_union(shape: shapes.UnionType, value: object, path: Path, form_errors: FormErrors, *, lax: bool) -> None:
    if value is None and shape.includes_none:
        return
    options = [option for option in shape.types if not isinstance(option, shapes.NoneType)]
    fitting = [option for option in options if _same_json_kind(option, value, lax=lax)] or options[:1]
    for option in fitting:
        attempt = FormErrors()
        _walk(option, value, path, attempt, lax=lax)
        if not attempt:
            return
    _walk(fitting[0], value, path, form_errors, lax=lax)


def _same_json_kind(shape: shapes.Type, value: object, *, lax: bool) -> bool:
    if isinstance(shape, shapes.Metadata):
        return _same_json_kind(shape.type, value, lax=lax)
    if isinstance(value, dict):
        return isinstance(shape, shapes.StructType | shapes.DictType)
    if isinstance(value, list):
        return isinstance(shape, shapes.ListType | shapes.SetType | shapes.VarTupleType)
    if isinstance(value, str):
        return lax or isinstance(shape, shapes.StrType | shapes.EnumType | shapes.LiteralType | shapes.CustomType)
    return isinstance(
        shape,
        shapes.IntType | shapes.FloatType | shapes.BoolType | shapes.EnumType | shapes.LiteralType | shapes.CustomType,
    )


def _walk_struct(shape: shapes.StructType, value: object, path: Path, form_errors: FormErrors, *, lax: bool) -> None:
    if not isinstance(value, dict):
        form_errors.add(path, FormCode.MODEL_TYPE_CONVERT, "Only dictionaries may be used in a ModelType")
        return
    for field in shape.fields:
        if field.encode_name in value:
            _walk(field.type, value[field.encode_name], [*path, field.encode_name], form_errors, lax=lax)
        elif field.required:
            form_errors.add([*path, field.encode_name], FormCode.BASE_TYPE_REQUIRED, "This field is required")


def _walk_list(
    shape: shapes.ListType | shapes.SetType | shapes.VarTupleType,
    value: object,
    path: Path,
    form_errors: FormErrors,
    *,
    lax: bool,
) -> None:
    if not isinstance(value, list):
        form_errors.add(path, FormCode.LIST_TYPE_CONVERT, "Only iterables may be used in a ListType")
        return
    if not _length_fits(shape, len(value), path, form_errors):
        return
    for index, item in enumerate(value[:_MAX_LIST_ERRORS]):
        _walk(shape.item_type, item, [*path, index], form_errors, lax=lax)


def _walk_dict(shape: shapes.DictType, value: object, path: Path, form_errors: FormErrors, *, lax: bool) -> None:
    if not isinstance(value, dict):
        form_errors.add(path, FormCode.MODEL_TYPE_CONVERT, "Only dictionaries may be used in a DictType")
        return
    if _length_fits(shape, len(value), path, form_errors):
        for key, item in list(value.items())[:_MAX_LIST_ERRORS]:
            _walk(shape.value_type, item, [*path, str(key)], form_errors, lax=lax)


def _length_fits(shape: Any, length: int, path: Path, form_errors: FormErrors) -> bool:
    least, maximum = shape.min_length or 0, shape.max_length
    if length >= least and (maximum is None or length <= maximum):
        return True
    if maximum is None:
        form_errors.add(path, FormCode.BASE_TYPE_MIN_LENGTH, f"Must be {least} or more in length.")
    elif least == 0:
        form_errors.add(path, FormCode.BASE_TYPE_MAX_LENGTH, f"Must be {maximum} or fewer in length.")
    else:
        form_errors.add(path, FormCode.BASE_TYPE_BAD_LENGTH, f"Must be between {least} and {maximum} in length.")
    return False


def _try_custom(shape: shapes.CustomType, value: object, path: Path, form_errors: FormErrors) -> None:
    try:
        shape.cls.from_wire(value)  # type: ignore[attr-defined]  # every custom type is a wire scalar
    except ValueError as problem:
        form_errors.add(path, getattr(shape.cls, "FORM_CODE", FormCode.NUMBER_TYPE_COERCE), str(problem))


def _walk_plain(shape: shapes.Type, value: object, path: Path, form_errors: FormErrors, *, lax: bool) -> None:
    if isinstance(shape, shapes.EnumType | shapes.LiteralType):
        choices = [m.value for m in shape.cls] if isinstance(shape, shapes.EnumType) else list(shape.values)
        known = {str(choice) for choice in choices} if lax else None
        if isinstance(value, bool) or (str(value) not in known if known else value not in choices):
            listed = ", ".join(str(choice) for choice in choices)
            form_errors.add(path, FormCode.BASE_TYPE_CHOICES, f"Value must be one of {{{listed}}}.")
        return
    if isinstance(shape, shapes.BoolType):
        if not isinstance(value, bool) and not (lax and str(value).lower() in {"true", "false", "1", "0"}):
            form_errors.add(path, FormCode.BOOLEAN_TYPE_CONVERT, "Must be either true or false.")
        return
    if isinstance(shape, shapes.StrType):
        _walk_text(shape, value, path, form_errors)
        return
    if isinstance(shape, shapes.IntType | shapes.FloatType):
        _walk_number(shape, value, path, form_errors, lax=lax)
        return
    try:
        convert(value, _ONLY.get(type(shape), object))
    except msgspec.ValidationError as problem:
        form_errors.add(path, FormCode.BASE_TYPE_CHOICES, str(problem))


_ONLY: dict[type[shapes.Type], Any] = {shapes.NoneType: None}


def _walk_text(shape: shapes.StrType, value: object, path: Path, form_errors: FormErrors) -> None:
    if not isinstance(value, str):
        form_errors.add(path, FormCode.STRING_TYPE_CONVERT, f"Could not interpret {str(value)[:40]!r} as string.")
    elif _length_fits(shape, len(value), path, form_errors) and shape.pattern is not None:
        form_errors.add(path, FormCode.STRING_TYPE_REGEX, "String value did not match validation regex.")


def _walk_number(
    shape: shapes.IntType | shapes.FloatType, value: object, path: Path, form_errors: FormErrors, *, lax: bool
) -> None:
    name, reader = ("int", int) if isinstance(shape, shapes.IntType) else ("float", float)
    if lax and isinstance(value, str):
        with contextlib.suppress(ValueError):
            value = reader(value)
    # 3.0 is no int, as msgspec has it: what counts is how it is written.
    if isinstance(value, bool) or not isinstance(value, int if name == "int" else int | float):
        form_errors.add(path, FormCode.NUMBER_TYPE_COERCE, f"Value {str(value)[:40]!r} is not {name}.")
    elif shape.ge is not None and value < shape.ge:
        form_errors.add(path, FormCode.NUMBER_TYPE_MIN, f"{name} value should be greater than or equal to {shape.ge}.")
    elif shape.gt is not None and value <= shape.gt:
        form_errors.add(path, FormCode.NUMBER_TYPE_MIN, f"{name} value should be greater than {shape.gt}.")
    elif shape.le is not None and value > shape.le:
        form_errors.add(path, FormCode.NUMBER_TYPE_MAX, f"{name} value should be less than or equal to {shape.le}.")
    elif shape.lt is not None and value >= shape.lt:
        form_errors.add(path, FormCode.NUMBER_TYPE_MAX, f"{name} value should be less than {shape.lt}.")
