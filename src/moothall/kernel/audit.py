"""The audit log's two ends in the kernel: writing an entry and announcing it."""

from collections.abc import Iterable
from typing import ClassVar

from msgspec import UNSET, Struct, structs
from sqlalchemy import insert

from moothall.kernel.events import Event
from moothall.objects.audit_log import AuditLogChange, AuditLogEntry
from moothall.objects.ids import GuildId
from moothall.objects.intents import Intent
from moothall.objects.permissions import Permissions
from moothall.objects.wire import to_plain
from moothall.storage.database import Query, Transaction
from moothall.storage.schema import audit_entries

_insert_entry = Query(insert(audit_entries))


class AuditEntryCreate(Event, frozen=True, kw_only=True):
    """GUILD_AUDIT_LOG_ENTRY_CREATE, to those who may read the log."""

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
    await tx.execute(_insert_entry, **_columns(guild_id, entry))


async def insert_entries(tx: Transaction, guild_id: GuildId, entries: Iterable[AuditLogEntry]) -> None:
    """Store several entries at once."""
    await tx.execute_many(_insert_entry, [_columns(guild_id, entry) for entry in entries])


def _columns(guild_id: GuildId, entry: AuditLogEntry) -> dict[str, object]:
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
    """What changed between two versions of an object, key by key.

    With no `before` a change carries only its new value, with no `after` only its old one; absent,
    null and unchanged values are left out.
    """
    old = {} if before is None else structs.asdict(before)
    new = {} if after is None else structs.asdict(after)
    changes = []
    for key in keys if keys is not None else {**old, **new}:
        was, now = _present(old.get(key)), _present(new.get(key))
        if was == now:
            continue
        changes.append(
            AuditLogChange(
                key=key,
                old_value=UNSET if was is None else to_plain(was),
                new_value=UNSET if now is None else to_plain(now),
            )
        )
    return changes


def _present(value: object) -> object:
    return None if value is UNSET else value
