"""Rules from the bodies of requests, and the differences between two versions of a rule. Pure."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import UNSET, UnsetType, structs

from moothall.api.audit import differences
from moothall.objects import limits
from moothall.objects.audit_log import AuditLogChange
from moothall.objects.auto_moderation import (
    ACTIONS,
    METADATA_FIELDS,
    Action,
    ActionMetadata,
    ActionType,
    AutoModerationRule,
    TriggerMetadata,
    TriggerType,
)
from moothall.objects.json_object import JsonObject
from moothall.objects.text import clean
from moothall.objects.wire import to_plain
from moothall.resources.auto_moderation.requests import ActionRequest, TriggerMetadataRequest

_DEFAULTS: Final[JsonObject] = {
    "keyword_filter": [],
    "regex_patterns": [],
    "presets": [],
    "allow_list": [],
    "mention_total_limit": limits.MENTION_TOTAL_DEFAULT,
    "mention_raid_protection_enabled": False,
}
_NO_METADATA: Final = TriggerMetadata()
_AUDITED: Final = ("name", "event_type", "trigger_type", "actions", "enabled", "exempt_roles", "exempt_channels")
_AUDITED_LISTS: Final = ("keyword_filter", "regex_patterns", "allow_list")


def build_metadata(
    trigger_type: int, body: TriggerMetadataRequest | UnsetType | None, before: TriggerMetadata = _NO_METADATA
) -> TriggerMetadata:
    """The trigger metadata after a request; fields that it leaves out keep their value."""
    values: dict[str, Any] = {}
    for field in METADATA_FIELDS[TriggerType(trigger_type)]:
        requested = getattr(body, field) if isinstance(body, TriggerMetadataRequest) else UNSET
        if requested is UNSET and body is not None:
            requested = getattr(before, field)
        values[field] = _DEFAULTS[field] if requested is UNSET or requested is None else _stored(requested)
    return TriggerMetadata(**values)


def build_actions(trigger_type: int, body: Sequence[ActionRequest] | UnsetType | None) -> list[Action]:
    """The actions of a request; the default one if it has none."""
    if not body:
        return [Action(type=int(ACTIONS[TriggerType(trigger_type)][0]), metadata=ActionMetadata())]
    return [_action(action) for action in body]


def _action(body: ActionRequest) -> Action:
    metadata = body.metadata
    if body.type == ActionType.TIMEOUT:
        seconds = metadata.duration_seconds if metadata else None
        parameters = ActionMetadata(
            duration_seconds=limits.RULE_TIMEOUT_DEFAULT if seconds is None or seconds is UNSET else seconds
        )
    elif body.type == ActionType.SEND_ALERT_MESSAGE and metadata and metadata.channel_id:
        parameters = ActionMetadata(channel_id=metadata.channel_id)
    elif body.type == ActionType.BLOCK_MESSAGE and metadata and metadata.custom_message:
        parameters = ActionMetadata(custom_message=clean(metadata.custom_message))
    else:
        parameters = ActionMetadata()
    return Action(type=int(body.type), metadata=parameters)


def _stored(value: object) -> object:
    """A field's value with texts cleaned, and without repetitions in lists."""
    if not isinstance(value, list):
        return value
    return list(dict.fromkeys(clean(item) if isinstance(item, str) else int(item) for item in value))


def rule_audit_changes(before: AutoModerationRule | None, after: AutoModerationRule | None) -> list[AuditLogChange]:
    """The audit log changes between two versions of a rule.

    An update lists the texts added to and removed from a list of the trigger metadata under keys of their own.
    """
    changes = differences(before, after, _AUDITED)
    if before is None or after is None:
        return changes + differences(before, after, ("trigger_metadata",))
    old, new = before.trigger_metadata, after.trigger_metadata
    for field in _AUDITED_LISTS:
        was, now = getattr(old, field) or [], getattr(new, field) or []
        for key, texts in (
            (f"$add_{field}", [text for text in now if text not in was]),
            (f"$remove_{field}", [text for text in was if text not in now]),
        ):
            if texts:
                changes.append(AuditLogChange(key=key, new_value=texts))
    old, new = (structs.replace(one, **dict.fromkeys(_AUDITED_LISTS, UNSET)) for one in (old, new))
    if old != new:
        changes.append(AuditLogChange(key="trigger_metadata", old_value=to_plain(old), new_value=to_plain(new)))
    return changes
