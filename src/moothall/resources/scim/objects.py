"""Resources of SCIM: what providers send, and what they are sent (RFC 7643)."""

from typing import Annotated, Final, TypeVar

import msgspec
from msgspec import Meta, Struct, field

from moothall.objects.email_address import EmailAddress
from moothall.objects.json_object import JsonObject
from moothall.resources.scim.errors import ScimRefusal, invalid_value

T = TypeVar("T")

USER_SCHEMA: Final = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP_SCHEMA: Final = "urn:ietf:params:scim:schemas:core:2.0:Group"
LIST_SCHEMA: Final = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
PATCH_SCHEMA: Final = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
MEMBERS_MAX: Final = 10_000
"""Members of a group."""
_EMAILS_MAX: Final = 20

Text = Annotated[str, Meta(max_length=255)]
Required = Annotated[str, Meta(min_length=1, max_length=255)]


class Email(Struct, rename="camel", omit_defaults=True):
    """An email address of a person."""

    value: Annotated[str, Meta(max_length=320)] | None = None
    display: Text | None = None
    type: Text | None = None
    primary: bool | None = None


class Name(Struct, rename="camel", omit_defaults=True):
    """The components of a person's name."""

    formatted: Text | None = None
    family_name: Text | None = None
    first_name: Text | None = field(default=None, name="givenName")
    middle_name: Text | None = None
    honorific_prefix: Text | None = None
    honorific_suffix: Text | None = None


class UserAttributes(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """What a provider says of a person, as it is stored and sent back."""

    user_name: Required
    external_id: Text | None = None
    name: Name | None = None
    display_name: Text | None = None
    nick_name: Text | None = None
    title: Text | None = None
    preferred_language: Text | None = None
    locale: Text | None = None
    timezone: Text | None = None
    emails: Annotated[list[Email], Meta(max_length=_EMAILS_MAX)] = field(default_factory=list)

    @property
    def shown_name(self) -> str:
        """The name that others are to see; it may be empty."""
        if self.display_name or self.name is None:
            return self.display_name or ""
        return self.name.formatted or " ".join(filter(None, (self.name.first_name, self.name.family_name)))

    @property
    def address(self) -> EmailAddress | None:
        """The primary address, else the first one. Raises ScimRefusal for one that is no address."""
        values = [email.value for email in sorted(self.emails, key=lambda email: not email.primary) if email.value]
        if not values:
            return None
        try:
            return EmailAddress.from_wire(values[0])
        except ValueError:
            raise invalid_value(f"emails: {values[0]} is not an address.") from None


class UserDocument(UserAttributes, rename="camel", omit_defaults=True, kw_only=True):
    """A user as a provider sends it. Null counts as the default."""

    active: bool | None = None


class GroupMember(Struct, rename="camel", omit_defaults=True):
    """A member of a group, by the id of the user."""

    value: Annotated[str, Meta(max_length=20)]


class GroupDocument(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """A group as a provider sends it."""

    display_name: Required
    external_id: Text | None = None
    members: Annotated[list[GroupMember], Meta(max_length=MEMBERS_MAX)] | None = None


USER_ATTRIBUTES: Final[dict[str, tuple[str, dict[str, str]]]] = {
    name.lower(): (name, {sub.lower(): sub for sub in subs})
    for name, subs in {
        "userName": (),
        "externalId": (),
        "name": (
            "formatted", "familyName", "givenName", "middleName", "honorificPrefix", "honorificSuffix",
        ),
        "displayName": (),
        "nickName": (),
        "title": (),
        "preferredLanguage": (),
        "locale": (),
        "timezone": (),
        "active": (),
        "emails": ("value", "display", "type", "primary"),
    }.items()
}  # fmt: skip
"""Attributes of a user that a provider sets, by their names in lower case, with their sub-attributes."""
GROUP_ATTRIBUTES: Final[dict[str, tuple[str, dict[str, str]]]] = {
    "displayname": ("displayName", {}),
    "externalid": ("externalId", {}),
    "members": ("members", {"value": "value", "display": "display", "type": "type", "$ref": "$ref"}),
}


def canonical(data: JsonObject, attributes: dict[str, tuple[str, dict[str, str]]]) -> JsonObject:
    """A document with the names of its attributes as the schema spells them, without unknown ones and nulls."""
    result: JsonObject = {}
    for key, value in data.items():
        known = attributes.get(key.lower())
        if known is None or value is None:
            continue
        name, subs = known
        result[name] = _canonical_value(value, subs) if subs else value
    return result


def read_user(data: JsonObject) -> UserDocument:
    """Read a user. Raises ScimRefusal 400 for an invalid one."""
    return _convert(canonical(data, USER_ATTRIBUTES), UserDocument)


def read_group(data: JsonObject) -> GroupDocument:
    """Read a group. Raises ScimRefusal 400 for an invalid one."""
    return _convert(canonical(data, GROUP_ATTRIBUTES), GroupDocument)


def attributes_of(document: UserDocument) -> UserAttributes:
    """What of a document is stored as it is."""
    return UserAttributes(**{name: getattr(document, name) for name in UserAttributes.__struct_fields__})


def _canonical_value(value: object, subs: dict[str, str]) -> object:
    if isinstance(value, list):
        return [_canonical_value(item, subs) for item in value]
    if not isinstance(value, dict):
        return value
    return {subs[key.lower()]: item for key, item in value.items() if key.lower() in subs and item is not None}


def _convert(data: JsonObject, kind: type[T]) -> T:
    try:
        return msgspec.convert(data, kind, strict=False)
    except msgspec.ValidationError as problem:
        raise ScimRefusal(400, str(problem), scim_type="invalidValue") from None
