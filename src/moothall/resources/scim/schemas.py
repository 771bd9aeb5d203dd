"""What this server says of its SCIM: the documents of discovery (RFC 7643, sections 5 to 7)."""

from typing import Final

from moothall.objects.json_object import JsonObject
from moothall.resources.scim.objects import GROUP_SCHEMA, USER_SCHEMA

_SCHEMA: Final = "urn:ietf:params:scim:schemas:core:2.0:Schema"
_RESOURCE_TYPE: Final = "urn:ietf:params:scim:schemas:core:2.0:ResourceType"
_CONFIG: Final = "urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"
PAGE_MAX: Final = 200
"""Resources of a page."""


def _attribute(name: str, description: str, kind: str = "string", **changes: object) -> JsonObject:
    attribute: JsonObject = {
        "name": name,
        "type": kind,
        "multiValued": False,
        "description": description,
        "required": False,
        "mutability": "readWrite",
        "returned": "default",
    }
    if kind == "string":
        attribute |= {"caseExact": False, "uniqueness": "none"}
    return attribute | changes


_NAME: Final = [
    _attribute("formatted", "The full name."),
    _attribute("familyName", "The family name."),
    _attribute("givenName", "The given name."),
    _attribute("middleName", "The middle names."),
    _attribute("honorificPrefix", "What stands before the name."),
    _attribute("honorificSuffix", "What stands after the name."),
]
_EMAIL: Final = [
    _attribute("value", "The address."),
    _attribute("display", "The address for display."),
    _attribute("type", "The kind of the address.", canonicalValues=["work", "home", "other"]),
    _attribute("primary", "Whether it is the address of the account.", "boolean"),
]
_GROUP: Final = [
    _attribute("value", "The id of the group.", mutability="readOnly"),
    _attribute("$ref", "The URL of the group.", "reference", referenceTypes=["Group"], mutability="readOnly"),
    _attribute("display", "The name of the group.", mutability="readOnly"),
    _attribute("type", "Always direct.", mutability="readOnly", canonicalValues=["direct"]),
]
_MEMBER: Final = [
    _attribute("value", "The id of the user.", mutability="immutable", required=True),
    _attribute("$ref", "The URL of the user.", "reference", referenceTypes=["User"], mutability="immutable"),
    _attribute("type", "Always User.", mutability="immutable", canonicalValues=["User"]),
]
USER: Final[JsonObject] = {
    "schemas": [_SCHEMA],
    "id": USER_SCHEMA,
    "name": "User",
    "description": "A person, and the account here.",
    "attributes": [
        _attribute("userName", "What the provider calls the user.", required=True, uniqueness="server"),
        _attribute("name", "The components of the name.", "complex", subAttributes=_NAME),
        _attribute("displayName", "The name that others see."),
        _attribute("nickName", "A casual name."),
        _attribute("title", "The person's title."),
        _attribute("preferredLanguage", "The preferred language."),
        _attribute("locale", "The locale."),
        _attribute("timezone", "The time zone."),
        _attribute("active", "Whether the account is open; closing it ends its logins.", "boolean"),
        _attribute("emails", "Addresses; the primary one is the account's.", "complex", multiValued=True)
        | {"subAttributes": _EMAIL},
        _attribute("groups", "The groups.", "complex", multiValued=True, mutability="readOnly")
        | {"subAttributes": _GROUP},
    ],
}
GROUP: Final[JsonObject] = {
    "schemas": [_SCHEMA],
    "id": GROUP_SCHEMA,
    "name": "Group",
    "description": "A group, whose members get what operators have set for its name.",
    "attributes": [
        _attribute("displayName", "The name.", required=True, caseExact=True, uniqueness="server"),
        _attribute("members", "The members.", "complex", multiValued=True) | {"subAttributes": _MEMBER},
    ],
}


def service_provider_config(base: str) -> JsonObject:
    """What of SCIM is supported."""
    return {
        "schemas": [_CONFIG],
        "patch": {"supported": True},
        "bulk": {"supported": False, "maxOperations": 0, "maxPayloadSize": 0},
        "filter": {"supported": True, "maxResults": PAGE_MAX},
        "changePassword": {"supported": False},
        "sort": {"supported": False},
        "etag": {"supported": True},
        "authenticationSchemes": [
            {
                "type": "oauthbearertoken",
                "name": "Token of an operator",
                "description": "A token with the permission provisioning, as a bearer token.",
                "specUri": "https://www.rfc-editor.org/info/rfc6750",
                "primary": True,
            }
        ],
        "meta": _meta(base, "ServiceProviderConfig", "ServiceProviderConfig"),
    }


def resource_types(base: str) -> list[JsonObject]:
    """The types of resources."""
    return [
        {
            "schemas": [_RESOURCE_TYPE],
            "id": name,
            "name": name,
            "endpoint": f"/{name}s",
            "description": description,
            "schema": schema,
            "meta": _meta(base, "ResourceType", f"ResourceTypes/{name}"),
        }
        for name, schema, description in (
            ("User", USER_SCHEMA, "A person, and the account here."),
            ("Group", GROUP_SCHEMA, "A group of people."),
        )
    ]


def schemas(base: str) -> list[JsonObject]:
    """The schemas of users and groups."""
    return [{**each, "meta": _meta(base, "Schema", f"Schemas/{each['id']}")} for each in (USER, GROUP)]


def _meta(base: str, kind: str, path: str) -> JsonObject:
    return {"resourceType": kind, "location": f"{base}/{path}"}
