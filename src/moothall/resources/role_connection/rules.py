"""Pure decisions about role connections: reading values, and whether they meet requirements."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from moothall.objects import limits
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import ApplicationId
from moothall.objects.role_connection import MetadataRecord, MetadataType, Requirement
from moothall.objects.text import clean
from moothall.objects.wire import Timestamp

_T = MetadataType
_DATETIMES: Final = frozenset({_T.DATETIME_LESS_THAN_OR_EQUAL, _T.DATETIME_GREATER_THAN_OR_EQUAL})
_BOOLEANS: Final = frozenset({_T.BOOLEAN_EQUAL, _T.BOOLEAN_NOT_EQUAL})
_TRUTHS: Final = {"1": "1", "0": "0", "true": "1", "false": "0"}
_DAY_MS: Final = 86_400_000
_MAX_DAYS: Final = 100_000
_MAX_DIGITS: Final = 19


class UserConnections(Struct, frozen=True):
    """What applications know of one user: their metadata records, and the values of the user."""

    records: Mapping[ApplicationId, Sequence[MetadataRecord]]
    values: Mapping[ApplicationId, Mapping[str, str]]
    """Only of applications that have a role connection with the user."""


class Verdict(Struct, frozen=True):
    """Whether requirements are met, and when they stop being met if nothing changes; None for never."""

    met: bool
    expires_at: Timestamp | None = None


def read_values(
    records: Iterable[MetadataRecord],
    values: Mapping[str, str | int | float | bool | None],
    form_errors: FormErrors,
) -> dict[str, str]:
    """The values of known fields as they are stored; unknown fields and nulls are left out."""
    kinds = {record.key: record.type for record in records}
    texts = {}
    for key, value in values.items():
        if key not in kinds or value is None:
            continue
        text = _read_value(kinds[key], value)
        if text is None:
            form_errors.add([key], *_expected(kinds[key]))
        elif len(text) > limits.METADATA_VALUE_MAX:
            form_errors.add([key], *FieldError.length(None, limits.METADATA_VALUE_MAX))
        else:
            texts[key] = text
    return texts


def _read_value(kind: MetadataType, value: object) -> str | None:
    text = clean(str(value)).strip()
    if kind in _BOOLEANS:
        return _TRUTHS.get(text.lower())
    if kind in _DATETIMES:
        return text if _moment(text) is not None else None
    number = _number(text)
    return None if number is None else str(number)


def _expected(kind: MetadataType) -> tuple[str, str]:
    if kind in _DATETIMES:
        return FormCode.DATE_TIME_TYPE_PARSE, "Could not parse this. Should be ISO8601."
    return FormCode.NUMBER_TYPE_COERCE, "Value must be 0 or 1." if kind in _BOOLEANS else "Value is not an integer."


def _moment(text: str) -> Timestamp | None:
    try:
        return Timestamp.from_wire(text)
    except ValueError:
        return None


def _number(text: str) -> int | None:
    """An integer, also written with a fraction of zero; None if it is none or has more than 19 digits."""
    whole, _, fraction = text.partition(".")
    digits = whole.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _MAX_DIGITS and not fraction.strip("0")):
        return None
    return int(whole)


def requirement_value(kind: MetadataType, value: str | None) -> str | None:
    """The value of a requirement as it is stored; None if it does not fit the type."""
    number = None if value is None else _number(value.strip())
    if kind in _BOOLEANS:
        return "1" if number == 1 else None
    if number is None or (kind in _DATETIMES and not 0 <= number <= _MAX_DAYS):
        return None
    return str(number)


def judge_rules(rules: Iterable[Iterable[Requirement]], connections: UserConnections, now: Timestamp) -> Verdict:
    """Whether all requirements of any rule are met."""
    met = [verdict for rule in rules if (verdict := _judge_rule(rule, connections, now)).met]
    if not met or any(verdict.expires_at is None for verdict in met):
        return Verdict(bool(met))
    return Verdict(met=True, expires_at=max(verdict.expires_at or now for verdict in met))


def _judge_rule(rule: Iterable[Requirement], connections: UserConnections, now: Timestamp) -> Verdict:
    verdicts = [judge_requirement(requirement, connections, now) for requirement in rule]
    ends = [verdict.expires_at for verdict in verdicts if verdict.expires_at is not None]
    return Verdict(all(verdict.met for verdict in verdicts), min(ends) if ends else None)


def judge_requirement(requirement: Requirement, connections: UserConnections, now: Timestamp) -> Verdict:
    """Whether one requirement is met. One on a field that the application has no more, or changed, is not."""
    values = connections.values.get(requirement.application_id)
    if values is None:
        return Verdict(met=False)
    if requirement.connection_metadata_field is None:
        return Verdict(met=True)
    records = connections.records.get(requirement.application_id, ())
    record = next((each for each in records if each.key == requirement.connection_metadata_field), None)
    value = values.get(requirement.connection_metadata_field)
    if record is None or record.type != requirement.operator or value is None or requirement.value is None:
        return Verdict(met=False)
    if record.type in _DATETIMES:
        return _judge_date(record.type, value, int(requirement.value), now)
    number = _number(value if record.type not in _BOOLEANS else _TRUTHS.get(value, ""))
    return Verdict(number is not None and _compare(record.type, number, int(requirement.value)))


def _judge_date(kind: MetadataType, value: str, days: int, now: Timestamp) -> Verdict:
    moment = _moment(value)
    if moment is None:
        return Verdict(met=False)
    if kind == _T.DATETIME_LESS_THAN_OR_EQUAL:
        return Verdict(moment <= now - days * _DAY_MS)
    end = Timestamp(moment + days * _DAY_MS)
    return Verdict(end >= now, end)


def _compare(kind: MetadataType, value: int, required: int) -> bool:
    if kind == _T.INTEGER_LESS_THAN_OR_EQUAL:
        return value <= required
    if kind == _T.INTEGER_GREATER_THAN_OR_EQUAL:
        return value >= required
    equal = value == required
    return equal if kind in {_T.INTEGER_EQUAL, _T.BOOLEAN_EQUAL} else not equal
