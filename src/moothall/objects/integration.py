"""Integrations (api.md, Integration objects)."""

from enum import IntEnum
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.application import IntegrationApplication
from moothall.objects.ids import ApplicationId, IntegrationId, RoleId
from moothall.objects.user import User
from moothall.objects.wire import Timestamp

BOT: Final = "discord"
"""The type of a bot's integration, which clients compare with."""


class ExpireBehavior(IntEnum):
    """The action for a member whose subscription ends."""

    REMOVE_ROLE = 0
    KICK = 1


class IntegrationAccount(Struct, frozen=True, kw_only=True):
    """The account of an integration: for a bot the application's id and name."""

    id: str
    name: str


class Integration(Struct, frozen=True, kw_only=True):
    """An integration. Integrations of bots have `application` and `scopes`, but no subscription fields."""

    id: IntegrationId
    name: str
    type: str
    enabled: bool
    syncing: bool | UnsetType = UNSET
    role_id: RoleId | UnsetType | None = UNSET
    enable_emoticons: bool | UnsetType = UNSET
    expire_behavior: int | UnsetType = UNSET
    expire_grace_period: int | UnsetType = UNSET
    user: User | UnsetType = UNSET
    account: IntegrationAccount
    synced_at: Timestamp | UnsetType = UNSET
    subscriber_count: int | UnsetType = UNSET
    revoked: bool | UnsetType = UNSET
    application: IntegrationApplication | UnsetType = UNSET
    scopes: list[str] | UnsetType = UNSET


class PartialIntegration(Struct, frozen=True, kw_only=True):
    """The integration object of the audit log."""

    id: IntegrationId
    name: str
    type: str
    account: IntegrationAccount
    application_id: ApplicationId | UnsetType = UNSET
