"""The embed of an alert: what was triggered, by whom and where, as clients display it."""

from typing import Final
from uuid import uuid4

from msgspec import Raw, Struct

from moothall.objects.auto_moderation import ActionType
from moothall.objects.embed import Embed, EmbedField
from moothall.objects.ids import ChannelId, MessageId
from moothall.objects.wire import encode
from moothall.resources.auto_moderation.checking import Trigger

_EMBED_TYPE: Final = "auto_moderation_message"


class AlertContext(Struct, frozen=True, kw_only=True):
    """What an alert says beside its trigger."""

    channel_id: ChannelId | None
    message_id: MessageId | None
    is_blocked: bool
    quarantine_event: str | None = None


def alert_embeds(trigger: Trigger, context: AlertContext) -> Raw:
    """The embeds of an alert as JSON."""
    values: dict[str, object | None] = {
        "rule_name": trigger.rule.name,
        "channel_id": None if context.channel_id is None else int(context.channel_id),
        "decision_id": uuid4().hex,
        "keyword": None if trigger.match is None else trigger.match.keyword,
        "keyword_matched_content": None if trigger.match is None else trigger.match.content,
        "flagged_message_id": None if context.message_id is None else int(context.message_id),
        **_action_values(trigger, context),
        "decision_outcome": "blocked" if context.is_blocked else "flagged",
    }
    fields = [EmbedField(name=name, value=str(value)) for name, value in values.items() if value is not None]
    return Raw(encode([Embed(type=_EMBED_TYPE, description=trigger.content, fields=fields)]))


def _action_values(trigger: Trigger, context: AlertContext) -> dict[str, object | None]:
    values: dict[str, object | None] = {}
    for action in trigger.rule.actions:
        if action.type == ActionType.TIMEOUT:
            values["timeout_duration"] = action.metadata.duration_seconds
        elif action.type == ActionType.BLOCK_MEMBER_INTERACTION:
            values["quarantine_user"] = trigger.name
            values["quarantine_user_action"] = (
                "block_profile_update" if context.quarantine_event is None else "quarantine_user"
            )
            values["quarantine_event"] = context.quarantine_event
            values["block_profile_update_type"] = "nickname_update" if context.quarantine_event is None else None
    return values
