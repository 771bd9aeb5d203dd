"""The form of an application's settings: from a row to the values of its fields, and from fields to an API request."""

import base64
from typing import Any, Final

from moothall.objects.application import ApplicationFlags, IntegrationType
from moothall.objects.json_object import JsonObject
from moothall.objects.permissions import BY_NAME
from moothall.objects.scopes import BOT, COMMANDS
from moothall.objects.webhook_event import OCCURRING, EventWebhooksStatus
from moothall.pages.forms import Form
from moothall.pages.labels import Gettext, permission_choices
from moothall.resources.application.queries import ApplicationRow

_TEXT_FIELDS: Final = (
    "interactions_endpoint_url",
    "terms_of_service_url",
    "privacy_policy_url",
    "custom_install_url",
    "role_connections_verification_url",
    "event_webhooks_url",
)
_CHECKBOXES: Final = ("bot_public", "bot_require_code_grant", "public_client")
_F = ApplicationFlags
_FLAGS: Final = (
    ("members", _F.GATEWAY_GUILD_MEMBERS, _F.GATEWAY_GUILD_MEMBERS_LIMITED),
    ("presence", _F.GATEWAY_PRESENCE, _F.GATEWAY_PRESENCE_LIMITED),
    ("content", _F.GATEWAY_MESSAGE_CONTENT, _F.GATEWAY_MESSAGE_CONTENT_LIMITED),
    ("activities", _F.EMBEDDED, _F.EMBEDDED),
)
"""Checkbox, flag that it shows, flag that the owner may set."""
_GUILD, _USER = (str(int(kind)) for kind in (IntegrationType.GUILD_INSTALL, IntegrationType.USER_INSTALL))
_ALL: Final = sum(BY_NAME.values())


def all_permission_choices(gettext: Gettext) -> list[tuple[int, str, bool]]:
    """`permission_choices` of every permission."""
    return permission_choices(_ALL, gettext)


def values_of_application(row: ApplicationRow) -> dict[str, Any]:
    """The value of each field for the stored settings."""
    config = row.integration_types_config or {}
    guild = (config.get(_GUILD) or {}).get("oauth2_install_params") or {}
    user = (config.get(_USER) or {}).get("oauth2_install_params") or {}
    return {
        "name": row.name,
        "description": row.description,
        "tags": ", ".join(row.tags),
        "redirect_uris": "\n".join(row.redirect_uris),
        "team_id": "" if row.team_id is None else str(int(row.team_id)),
        **{name: getattr(row, name) or "" for name in _TEXT_FIELDS},
        **{name: getattr(row, name) for name in _CHECKBOXES},
        **{name: bool(row.flags & (public | settable)) for name, public, settable in _FLAGS},
        "guild_install": _GUILD in config,
        "user_install": _USER in config,
        "guild_bot": BOT in guild.get("scopes", ()),
        "guild_commands": COMMANDS in guild.get("scopes", ()),
        "user_commands": COMMANDS in user.get("scopes", ()),
        "permissions": int(guild.get("permissions", 0)),
        "event_webhooks": row.event_webhooks_status == EventWebhooksStatus.ENABLED,
        "event_webhooks_types": list(row.event_webhooks_types),
    }


def values_of_form(form: Form, row: ApplicationRow) -> dict[str, Any]:
    """The value of each field for a form that was refused: what the user entered."""
    values = values_of_application(row)
    for name, stored in values.items():
        if isinstance(stored, bool):
            values[name] = form.has(name)
        elif name not in {"permissions", "event_webhooks_types"}:
            values[name] = form.text(name)
    return values | {
        "permissions": _permissions(form),
        "event_webhooks_types": form.texts("event_webhooks_types"),
    }


def requested_changes(form: Form, row: ApplicationRow) -> dict[str, Any]:
    """The body of the API request (Edit Application) that a form stands for."""
    body: dict[str, object] = {name: form.text(name).strip() or None for name in _TEXT_FIELDS}
    body |= {name: form.has(name) for name in _CHECKBOXES}
    body |= {
        "name": form.text("name").strip(),
        "description": form.text("description").replace("\r\n", "\n"),
        "tags": [tag for part in form.text("tags").split(",") if (tag := part.strip())],
        "redirect_uris": form.lines("redirect_uris"),
        "flags": sum(settable for name, _, settable in _FLAGS if form.has(name)),
        "integration_types_config": _installations(form),
    }
    # The page does not show every type: those stay.
    hidden = [kind for kind in row.event_webhooks_types if kind not in OCCURRING]
    body["event_webhooks_types"] = [*form.texts("event_webhooks_types"), *hidden]
    if form.has("event_webhooks") != (row.event_webhooks_status == EventWebhooksStatus.ENABLED):
        enabled = EventWebhooksStatus.ENABLED if form.has("event_webhooks") else EventWebhooksStatus.DISABLED
        body["event_webhooks_status"] = int(enabled)
    if "icon" in form.files:
        # The media type is ignored: the decoded data determines the format.
        body["icon"] = "data:image/png;base64," + base64.b64encode(form.files["icon"]).decode()
    elif form.has("remove_icon"):
        body["icon"] = None
    team_id = None if row.team_id is None else str(int(row.team_id))
    if form.has("team_id") and (new_team_id := form.text("team_id") or None) != team_id:
        body["team_id"] = new_team_id
    return body


def _installations(form: Form) -> JsonObject:
    config: dict[str, object] = {}
    for checkbox, key, scope_checkboxes in (
        ("guild_install", _GUILD, (("guild_bot", BOT), ("guild_commands", COMMANDS))),
        ("user_install", _USER, (("user_commands", COMMANDS),)),
    ):
        if form.has(checkbox):
            scopes = [scope for name, scope in scope_checkboxes if form.has(name)]
            permissions = _permissions(form) if BOT in scopes else 0
            params = {"oauth2_install_params": {"scopes": scopes, "permissions": str(permissions)}}
            config[key] = params if scopes else {}
    return config


def _permissions(form: Form) -> int:
    """The permissions that are ticked; a value that is not a single permission is ignored."""
    bits = {str(int(bit)): int(bit) for bit in BY_NAME.values()}
    return sum({bits[text] for text in form.texts("permission") if text in bits})
