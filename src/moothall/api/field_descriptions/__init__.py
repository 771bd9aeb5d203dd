"""What fields and parameters are, by name, for the OpenAPI document. A field's own docstring comes first."""

from typing import Final

from moothall.api.field_descriptions import (
    accounts,
    applications,
    authorization,
    everywhere,
    guilds,
    messages,
    operators,
    parameters,
)

THEMES: Final = (
    everywhere.DESCRIPTIONS,
    accounts.DESCRIPTIONS,
    guilds.DESCRIPTIONS,
    messages.DESCRIPTIONS,
    applications.DESCRIPTIONS,
    operators.DESCRIPTIONS,
    authorization.DESCRIPTIONS,
)

FIELDS: Final[dict[str, str]] = {name: text for texts in THEMES for name, text in texts.items()}
"""Descriptions of fields by their name."""

PARAMETERS: Final[dict[str, str]] = parameters.DESCRIPTIONS
"""Descriptions of parameters in the path, the query and the header by their name, where they are not the field's."""


def describe_field(name: str) -> str | None:
    """What a field of this name is, or None where its name does not say it."""
    return FIELDS.get(name) or _describe_by_suffix(name)


def describe_parameter(name: str) -> str | None:
    """What a parameter of this name is, or None where its name does not say it."""
    return PARAMETERS.get(name) or describe_field(name)


def _describe_by_suffix(name: str) -> str | None:
    if name.endswith("_id"):
        return f"The id of the {name.removesuffix('_id').replace('_', ' ')}."
    if name.endswith("_ids"):
        return f"The ids of the {name.removesuffix('_ids').replace('_', ' ')}s."
    if name.endswith("_url"):
        return f"The URL of the {name.removesuffix('_url').replace('_', ' ')}."
    if name.endswith("_count"):
        return f"How many {name.removesuffix('_count').replace('_', ' ')}s there are."
    if name.endswith(("_at", "_time", "_timestamp")):
        return f"When: {name.rpartition('_')[0].replace('_', ' ')}. ISO 8601."
    return None
