"""The audit log: action types and entries (resources: audit log)."""

from enum import IntEnum
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.auto_moderation import AutoModerationRule
from moothall.objects.channel import Channel
from moothall.objects.command import Command
from moothall.objects.ids import AuditEntryId, Snowflake, UserId
from moothall.objects.integration import PartialIntegration
from moothall.objects.scheduled_event import ScheduledEvent
from moothall.objects.user import User
from moothall.objects.webhook import Webhook


class AuditLogEvent(IntEnum):
    """The action type of an entry."""

    GUILD_UPDATE = 1
    CHANNEL_CREATE = 10
    CHANNEL_UPDATE = 11
    CHANNEL_DELETE = 12
    CHANNEL_OVERWRITE_CREATE = 13
    CHANNEL_OVERWRITE_UPDATE = 14
    CHANNEL_OVERWRITE_DELETE = 15
    MEMBER_KICK = 20
    MEMBER_PRUNE = 21
    MEMBER_BAN_ADD = 22
    MEMBER_BAN_REMOVE = 23
    MEMBER_UPDATE = 24
    MEMBER_ROLE_UPDATE = 25
    MEMBER_MOVE = 26
    MEMBER_DISCONNECT = 27
    BOT_ADD = 28
    ROLE_CREATE = 30
    ROLE_UPDATE = 31
    ROLE_DELETE = 32
    INVITE_CREATE = 40
    INVITE_UPDATE = 41
    INVITE_DELETE = 42
    WEBHOOK_CREATE = 50
    WEBHOOK_UPDATE = 51
    WEBHOOK_DELETE = 52
    EMOJI_CREATE = 60
    EMOJI_UPDATE = 61
    EMOJI_DELETE = 62
    MESSAGE_DELETE = 72
    MESSAGE_BULK_DELETE = 73
    MESSAGE_PIN = 74
    MESSAGE_UNPIN = 75
    INTEGRATION_CREATE = 80
    INTEGRATION_UPDATE = 81
    INTEGRATION_DELETE = 82
    STAGE_INSTANCE_CREATE = 83
    STAGE_INSTANCE_UPDATE = 84
    STAGE_INSTANCE_DELETE = 85
    STICKER_CREATE = 90
    STICKER_UPDATE = 91
    STICKER_DELETE = 92
    GUILD_SCHEDULED_EVENT_CREATE = 100
    GUILD_SCHEDULED_EVENT_UPDATE = 101
    GUILD_SCHEDULED_EVENT_DELETE = 102
    THREAD_CREATE = 110
    THREAD_UPDATE = 111
    THREAD_DELETE = 112
    APPLICATION_COMMAND_PERMISSION_UPDATE = 121
    SOUNDBOARD_SOUND_CREATE = 130
    SOUNDBOARD_SOUND_UPDATE = 131
    SOUNDBOARD_SOUND_DELETE = 132
    AUTO_MODERATION_RULE_CREATE = 140
    AUTO_MODERATION_RULE_UPDATE = 141
    AUTO_MODERATION_RULE_DELETE = 142
    AUTO_MODERATION_BLOCK_MESSAGE = 143
    AUTO_MODERATION_FLAG_TO_CHANNEL = 144
    AUTO_MODERATION_USER_COMMUNICATION_DISABLED = 145
    AUTO_MODERATION_QUARANTINE_USER = 146
    CREATOR_MONETIZATION_REQUEST_CREATED = 150
    CREATOR_MONETIZATION_TERMS_ACCEPTED = 151
    ONBOARDING_PROMPT_CREATE = 163
    ONBOARDING_PROMPT_UPDATE = 164
    ONBOARDING_PROMPT_DELETE = 165
    ONBOARDING_CREATE = 166
    ONBOARDING_UPDATE = 167
    HOME_SETTINGS_CREATE = 190
    HOME_SETTINGS_UPDATE = 191
    VOICE_CHANNEL_STATUS_CREATE = 192
    VOICE_CHANNEL_STATUS_DELETE = 193
    GUILD_SCHEDULED_EVENT_EXCEPTION_CREATE = 200
    GUILD_SCHEDULED_EVENT_EXCEPTION_UPDATE = 201
    GUILD_SCHEDULED_EVENT_EXCEPTION_DELETE = 202


class AuditLogChange(Struct, frozen=True, kw_only=True):
    """A changed key of the target: without an old value it was added, without a new one removed."""

    key: str
    new_value: Any = UNSET
    old_value: Any = UNSET


class AuditLogOptions(Struct, frozen=True, kw_only=True):
    """Further fields of an entry, by action type; numbers are strings here."""

    application_id: Snowflake | UnsetType = UNSET
    auto_moderation_rule_name: str | UnsetType = UNSET
    auto_moderation_rule_trigger_type: str | UnsetType = UNSET
    channel_id: Snowflake | UnsetType = UNSET
    count: str | UnsetType = UNSET
    delete_member_days: str | UnsetType = UNSET
    event_exception_id: Snowflake | UnsetType = UNSET
    id: Snowflake | UnsetType = UNSET
    integration_type: str | UnsetType = UNSET
    members_removed: str | UnsetType = UNSET
    message_id: Snowflake | UnsetType = UNSET
    role_name: str | UnsetType = UNSET
    status: str | UnsetType = UNSET
    type: str | UnsetType = UNSET


class AuditLogEntry(Struct, frozen=True, kw_only=True):
    """An entry of the audit log. The gateway event has `guild_id` too."""

    id: AuditEntryId
    target_id: str | None
    """Usually a snowflake; for an invite its code."""
    user_id: UserId | None
    action_type: int
    changes: list[AuditLogChange] | UnsetType = UNSET
    """The old and the new value of each field that has changed."""
    options: AuditLogOptions | UnsetType = UNSET
    reason: str | UnsetType = UNSET


class AuditLog(Struct, frozen=True, kw_only=True):
    """A page of entries with the objects that they refer to; every list is always present."""

    audit_log_entries: list[AuditLogEntry]
    users: list[User]
    webhooks: list[Webhook]
    threads: list[Channel]
    integrations: list[PartialIntegration]
    auto_moderation_rules: list[AutoModerationRule]
    application_commands: list[Command]
    guild_scheduled_events: list[ScheduledEvent]
