"""JSON whose fields no type of this project names."""

from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]
"""A decoded JSON object. Where its fields are known, a Struct says so instead."""
