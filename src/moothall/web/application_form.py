"""The form of an application's settings: from its row to what the fields show, and from the fields to a request."""

import base64
from typing import Any, Final

from moothall.objects.application import ApplicationFlags, IntegrationType
from moothall.objects.permissions import BY_NAME
from moothall.objects.scopes import BOT, COMMANDS
from moothall.resources.application.queries import ApplicationRow
from moothall.web.browsing import Form
from moothall.web.wording import permission_choices

TEXTS: Final = (
    "interactions_endpoint_url",
    "terms_of_service_url",
    "privacy_policy_url",
    "custom_install_url",
    "role_connections_verification_url",
)
BOXES: Final = ("bot_public", "bot_require_code_grant", "public_client")
_F = ApplicationFlags
FLAGS: Final = (
    ("members", _F.GATEWAY_GUILD_MEMBERS, _F.GATEWAY_GUILD_MEMBERS_LIMITED),
    ("presence", _F.GATEWAY_PRESENCE, _F.GATEWAY_PRESENCE_LIMITED),
    ("content", _F.GATEWAY_MESSAGE_CONTENT, _F.GATEWAY_MESSAGE_CONTENT_LIMITED),
    ("activities", _F.EMBEDDED, _F.EMBEDDED),
)
"""By the name of their box: the bits that mean it, and the one that the owner may set."""
_GUILD, _USER = (str(int(kind)) for kind in (IntegrationType.GUILD_INSTALL, IntegrationType.USER_INSTALL))
_ALL: Final = sum(BY_NAME.values())


def choices() -> list[tuple[int, str, bool]]:
    """Every permission that an installation can ask for."""
    return permission_choices(_ALL)


def given_of_row(row: ApplicationRow) -> dict[str, Any]:
    """What the fields show of an application as it is."""
    config = row.integration_types_config or {}
    guild = (config.get(_GUILD) or {}).get("oauth2_install_params") or {}
    user = (config.get(_USER) or {}).get("oauth2_install_params") or {}
    return {
        "name": row.name,
        "description": row.description,
        "tags": ", ".join(row.tags),
        "redirect_uris": "\n".join(row.redirect_uris),
        "team_id": "" if row.team_id is None else str(int(row.team_id)),
        **{name: getattr(row, name) or "" for name in TEXTS},
        **{name: getattr(row, name) for name in BOXES},
        **{name: bool(row.flags & (public | settable)) for name, public, settable in FLAGS},
        "guild_install": _GUILD in config,
        "user_install": _USER in config,
        "guild_bot": BOT in guild.get("scopes", ()),
        "guild_commands": COMMANDS in guild.get("scopes", ()),
        "user_commands": COMMANDS in user.get("scopes", ()),
        "permissions": int(guild.get("permissions", 0)),
    }


def given_of_form(form: Form, row: ApplicationRow) -> dict[str, Any]:
    """What the fields show of a form that was refused: what was written into them."""
    given = given_of_row(row)
    for name, before in given.items():
        if isinstance(before, bool):
            given[name] = form.flag(name)
        elif name != "permissions":
            given[name] = form.text(name)
    return given | {"permissions": _permissions(form)}


def asked_changes(form: Form, row: ApplicationRow) -> dict[str, Any]:
    """The request that a form stands for."""
    asked: dict[str, Any] = {name: form.text(name).strip() or None for name in TEXTS}
    asked |= {name: form.flag(name) for name in BOXES}
    asked |= {
        "name": form.text("name").strip(),
        "description": form.text("description").replace("\r\n", "\n"),
        "tags": [tag for part in form.text("tags").split(",") if (tag := part.strip())],
        "redirect_uris": form.lines("redirect_uris"),
        "flags": sum(settable for name, _, settable in FLAGS if form.flag(name)),
        "integration_types_config": _installations(form),
    }
    if "icon" in form.files:
        # What it says of itself does not matter: it is decoded to see what it is.
        asked["icon"] = "data:image/png;base64," + base64.b64encode(form.files["icon"]).decode()
    elif form.flag("remove_icon"):
        asked["icon"] = None
    team_id = None if row.team_id is None else str(int(row.team_id))
    if "team_id" in form.texts and (wanted := form.text("team_id") or None) != team_id:
        asked["team_id"] = wanted
    return asked


def _installations(form: Form) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for box, key, offered in (
        ("guild_install", _GUILD, (("guild_bot", BOT), ("guild_commands", COMMANDS))),
        ("user_install", _USER, (("user_commands", COMMANDS),)),
    ):
        if form.flag(box):
            scopes = [scope for name, scope in offered if form.flag(name)]
            permissions = _permissions(form) if BOT in scopes else 0
            params = {"oauth2_install_params": {"scopes": scopes, "permissions": str(permissions)}}
            found[key] = params if scopes else {}
    return found


def _permissions(form: Form) -> int:
    """The permissions that are ticked; whatever is no single one of them is ignored."""
    known = {str(int(bit)): int(bit) for bit in BY_NAME.values()}
    return sum({known[text] for text in form.all("permission") if text in known})
