"""Gateway events of auto moderation: changed rules, and executed actions."""

from typing import ClassVar

from msgspec import UNSET, Raw, UnsetType, structs

from moothall.api.events import Event
from moothall.authority.guild_changes import GuildPart
from moothall.bus import Envelope
from moothall.objects.auto_moderation import Action, AutoModerationRule
from moothall.objects.ids import ChannelId, GuildId, MessageId, RuleId, UserId
from moothall.objects.intents import Intent
from moothall.objects.permissions import Permissions
from moothall.objects.wire import encode


class _RuleEvent(Event, frozen=True, kw_only=True):
    """An event whose payload is the rule, sent to members with MANAGE_GUILD."""

    intent: ClassVar[int] = Intent.AUTO_MODERATION_CONFIGURATION
    permission: ClassVar[int] = Permissions.MANAGE_GUILD
    changes_guild: ClassVar[tuple[GuildPart, ...]] = (GuildPart.RULES,)
    rule: AutoModerationRule

    @property
    def guild_id(self) -> GuildId:
        """Id of the rule's guild."""
        return self.rule.guild_id

    def payload(self) -> object:
        """The rule."""
        return self.rule


class AutoModerationRuleCreate(_RuleEvent, frozen=True, kw_only=True):
    """AUTO_MODERATION_RULE_CREATE: a rule was created."""

    name: ClassVar[str] = "AUTO_MODERATION_RULE_CREATE"


class AutoModerationRuleUpdate(_RuleEvent, frozen=True, kw_only=True):
    """AUTO_MODERATION_RULE_UPDATE: a rule was modified."""

    name: ClassVar[str] = "AUTO_MODERATION_RULE_UPDATE"


class AutoModerationRuleDelete(_RuleEvent, frozen=True, kw_only=True):
    """AUTO_MODERATION_RULE_DELETE: a rule was deleted."""

    name: ClassVar[str] = "AUTO_MODERATION_RULE_DELETE"


class AutoModerationActionExecution(Event, frozen=True, kw_only=True):
    """AUTO_MODERATION_ACTION_EXECUTION: a rule was triggered, and one of its actions executed.

    Sessions without the MESSAGE_CONTENT intent receive it with empty content.
    """

    name: ClassVar[str] = "AUTO_MODERATION_ACTION_EXECUTION"
    intent: ClassVar[int] = Intent.AUTO_MODERATION_EXECUTION
    permission: ClassVar[int] = Permissions.MANAGE_GUILD
    guild_id: GuildId
    action: Action
    rule_id: RuleId
    rule_trigger_type: int
    user_id: UserId
    channel_id: ChannelId | UnsetType = UNSET
    """Absent if the content belongs to no channel."""
    message_id: MessageId | UnsetType = UNSET
    """Absent if the message was blocked, or the content is none of a message."""
    alert_system_message_id: MessageId | UnsetType = UNSET
    """Present for SEND_ALERT_MESSAGE only."""
    content: str
    matched_keyword: str | None
    matched_content: str | None

    def envelope(self) -> Envelope:
        """The event, also without the content."""
        hidden = structs.replace(self, content="", matched_content=None if self.matched_content is None else "")
        return Envelope(
            name=self.name,
            data=Raw(encode(self)),
            audience=self.audience,
            guild_id=self.guild_id,
            intent=self.intent,
            permission=self.permission,
            stripped=Raw(encode(hidden)),
        )
