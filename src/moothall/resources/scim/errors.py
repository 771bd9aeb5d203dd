"""Errors of SCIM (RFC 7644, section 3.12)."""

from typing import Final

from moothall.objects.errors import ErrorKind, Refusal
from moothall.objects.json_object import JsonObject

_SCHEMA: Final = "urn:ietf:params:scim:api:messages:2.0:Error"


class ScimRefusal(Refusal):
    """A refusal whose body is an error of SCIM; `scim_type` is the keyword of section 3.12, if there is one."""

    def __init__(
        self, status: int, detail: str, *, scim_type: str | None = None, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(ErrorKind(status, 0, detail), headers=headers)
        self.scim_type = scim_type

    def body(self) -> JsonObject:
        """The JSON of the response."""
        body: JsonObject = {"schemas": [_SCHEMA], "status": str(self.status), "detail": self.message}
        return body if self.scim_type is None else {**body, "scimType": self.scim_type}


def scim_refusal(refusal: Refusal) -> ScimRefusal:
    """The same refusal in the shape of SCIM."""
    if isinstance(refusal, ScimRefusal):
        return refusal
    scim_type = "invalidValue" if refusal.errors else None
    detail = "; ".join(_messages(refusal.errors)) if refusal.errors else refusal.message
    return ScimRefusal(refusal.status, detail, scim_type=scim_type, headers=refusal.headers)


def invalid_value(detail: str) -> ScimRefusal:
    """The refusal of a value that an attribute cannot have."""
    return ScimRefusal(400, detail, scim_type="invalidValue")


def no_resource(kind: str) -> ScimRefusal:
    """The refusal of an id that no resource has."""
    return ScimRefusal(404, f"There is no {kind} with this id.")


def _messages(tree: JsonObject, path: str = "") -> list[str]:
    """Every error of a tree of form errors, with its path."""
    messages: list[str] = []
    for name, below in tree.items():
        if name == "_errors":
            messages += [f"{path or 'body'}: {error['message']}" for error in below]
        elif isinstance(below, dict):
            messages += _messages(below, f"{path}.{name}" if path else name)
    return messages
