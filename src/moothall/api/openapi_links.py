"""Links of the OpenAPI document: from the rows that create an object to the rows that take its ids in their path."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from moothall.api.endpoint import Endpoint

_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")

PROVIDED: Final[Mapping[str, Mapping[str, str]]] = {
    "AutoModerationRule": {"rule_id": "id"},
    "Channel": {"channel_id": "id"},
    "Command": {"command_id": "id"},
    "Emoji": {"emoji_id": "id"},
    "Entitlement": {"entitlement_id": "id"},
    "EventException": {
        "exception_id": "event_exception_id",
        "guild_scheduled_event_exception_id": "event_exception_id",
    },
    "Guild": {"guild_id": "id"},
    "GuildTemplate": {"code": "code"},
    "InviteMetadata": {"code": "code"},
    "Login": {"user_id": "user_id"},
    "Message": {"message_id": "id", "channel_id": "channel_id"},
    "NewApplication": {"application_id": "id"},
    "Registered": {"user_id": "user_id"},
    "Role": {"role_id": "id"},
    "ScheduledEvent": {"guild_scheduled_event_id": "id"},
    "Sku": {"sku_id": "id"},
    "SoundboardSound": {"sound_id": "sound_id"},
    "StageInstance": {"channel_id": "channel_id"},
    "StartedThread": {"channel_id": "id"},
    "Sticker": {"sticker_id": "id"},
    "Team": {"team_id": "id"},
    "Webhook": {"webhook_id": "id", "webhook_token": "token"},
}
"""The path parameters whose values an object has, by the name of its schema, with the fields that have them."""


def links_of(row: Endpoint, kind: object, rows: Iterable[Endpoint]) -> dict[str, Any]:
    """The links of a row that creates an object of a type: one to each row that its ids, and the row's own, lead to."""
    provided = PROVIDED.get(getattr(kind, "__name__", ""), {})
    own = _PLACEHOLDER.findall(row.path)
    if row.method != "POST" or not provided or set(provided) & set(own):
        return {}
    values = {name: f"$request.path.{name}" for name in own}
    values |= {name: f"$response.body#/{field}" for name, field in provided.items()}
    links: dict[str, object] = {}
    for target in rows:
        needed = _PLACEHOLDER.findall(target.path)
        if set(needed) <= set(values) and set(needed) & set(provided) and _is_of_noun(provided, needed, target):
            links[target.name] = {"operationId": target.name, "parameters": {name: values[name] for name in needed}}
    return links


def _is_of_noun(provided: Mapping[str, str], needed: list[str], target: Endpoint) -> bool:
    """Whether a `code` is that of the target: invites and templates both have one."""
    if "code" not in needed or "code" not in provided:
        return True
    return "template" in target.path if provided is PROVIDED["GuildTemplate"] else "template" not in target.path
