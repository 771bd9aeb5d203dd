"""Audit log entries: storing them, announcing them, and computing their changes."""

from collections.abc import Iterable
from typing import ClassVar

from msgspec import UNSET, Struct

from moothall.api.events import Event
from moothall.objects.audit_log import AuditLogChange, AuditLogEntry
from moothall.objects.ids import GuildId
from moothall.objects.intents import Intent
from moothall.objects.json_object import JsonObject
from moothall.objects.permissions import Permissions
from moothall.objects.wire import to_plain
from moothall.storage.database import Query, Transaction
from moothall.storage.sql import insert
from moothall.storage.tables import audit_entries

_insert_entry = Query(lambda: insert(audit_entries))


class AuditEntryCreate(Event, frozen=True, kw_only=True):
    """GUILD_AUDIT_LOG_ENTRY_CREATE, to members with VIEW_AUDIT_LOG."""

    name: ClassVar[str] = "GUILD_AUDIT_LOG_ENTRY_CREATE"
    intent: ClassVar[int] = Intent.GUILD_MODERATION
    permission: ClassVar[int] = Permissions.VIEW_AUDIT_LOG
    guild_id: GuildId
    entry: AuditLogEntry

    def payload(self) -> object:
        """The entry with its guild's id."""
        return {**to_plain(self.entry), "guild_id": str(int(self.guild_id))}


async def insert_entry(tx: Transaction, guild_id: GuildId, entry: AuditLogEntry) -> None:
    """Store one entry."""
    await tx.write(_insert_entry, **_columns(guild_id, entry))


async def insert_entries(tx: Transaction, guild_id: GuildId, entries: Iterable[AuditLogEntry]) -> None:
    """Store several entries with one statement."""
    await tx.execute_many(_insert_entry, (_columns(guild_id, entry) for entry in entries))


def _columns(guild_id: GuildId, entry: AuditLogEntry) -> JsonObject:
    return {
        "guild_id": guild_id,
        "id": entry.id,
        "user_id": entry.user_id,
        "target_id": None if entry.target_id is None else int(entry.target_id),
        "action_type": int(entry.action_type),
        "changes": to_plain(entry.changes) if entry.changes is not UNSET else [],
        "options": None if entry.options is UNSET else to_plain(entry.options),
        "reason": entry.reason if entry.reason is not UNSET else None,
    }


def differences(before: Struct | None, after: Struct | None, keys: Iterable[str] | None = None) -> list[AuditLogChange]:
    """The changes between two versions of an object, one for each key that differs.

    Without `before`, changes have only a new value, without `after` only an old one. A change between absent and null
    is none.
    """
    if keys is None:
        keys = dict.fromkeys(name for each in (before, after) if each is not None for name in each.__struct_fields__)
    changes = []
    for key in keys:
        old_value, new_value = getattr(before, key, None), getattr(after, key, None)
        if old_value is new_value:
            continue
        old_value, new_value = _absent_as_none(old_value), _absent_as_none(new_value)
        if old_value == new_value:
            continue
        changes.append(
            AuditLogChange(
                key=key,
                old_value=UNSET if old_value is None else to_plain(old_value),
                new_value=UNSET if new_value is None else to_plain(new_value),
            )
        )
    return changes


def _absent_as_none(value: object) -> object:
    return None if value is UNSET else value
