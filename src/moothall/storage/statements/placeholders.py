"""The numbered parameters in compiled statements of PostgreSQL: `$1`, with its type where one was compiled."""

import re
from typing import Final

_PARAMETER: Final = re.compile(r"\$(\d+)")
_TYPED_PARAMETER: Final = re.compile(r"\$(\d+)::([A-Z]+)")


def renumbered(text: str, *, after: int) -> str:
    """A statement whose first parameter comes after so many others."""
    return _PARAMETER.sub(lambda parameter: f"${int(parameter[1]) + after}", text)


def for_keys(text: str) -> str:
    """A SELECT of the rows of many keys, made of that for one; each row has the number of its key, from 1, at its end.

    Its parameters are arrays of those of the other, which must have their types beside them. Raises ValueError if one
    has none.
    """
    types = {int(number): kind for number, kind in _TYPED_PARAMETER.findall(text)}
    one = _TYPED_PARAMETER.sub(r"key.p\1", text)
    if not types or "$" in one:
        raise ValueError(f"a parameter has no type: {text}")
    arrays = ", ".join(f"${number}::{kind}[]" for number, kind in sorted(types.items()))
    names = ", ".join(f"p{number}" for number in sorted(types))
    return (
        f"SELECT one.*, key.number FROM unnest({arrays}) WITH ORDINALITY AS key ({names}, number),"  # noqa: S608 our own
        f" LATERAL ({one}) AS one"
    )
