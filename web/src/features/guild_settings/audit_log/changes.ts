import type { APIAuditLogChange, APIAuditLogEntry } from "discord-api-types/v10";

import { Permission } from "../../../api/enums";
import type { PermissionName } from "../../../api/enums";

/** The names of what an entry refers to; null for what no longer exists. */
export interface AuditNames {
  channel: (id: string) => string | null;
  role: (id: string) => string | null;
  /** Of users, webhooks, rules and everything else that a page of the log brings. */
  other: (id: string) => string | null;
}

/** The words for values. */
export interface AuditWords {
  yes: string;
  no: string;
  none: string;
  permission: (name: PermissionName) => string;
}

/** A change of one field. Null stands for a value that the field did not or does not have. */
export interface ReadableChange {
  key: string;
  before: string | null;
  after: string | null;
}

const ID = /^\d{15,20}$/;
const PERMISSION_KEYS: ReadonlySet<string> = new Set(["permissions", "allow", "deny"]);

/** The changes of an entry in words. Changes of what a reader cannot use, such as image hashes, lack their values. */
export function readableChanges(
  entry: APIAuditLogEntry,
  names: AuditNames,
  words: AuditWords,
): ReadableChange[] {
  return (entry.changes ?? []).map((change) => {
    const {
      key,
      old_value: before,
      new_value: after,
    } = change as Pick<APIAuditLogChange, "key"> & {
      old_value?: unknown;
      new_value?: unknown;
    };
    if (PERMISSION_KEYS.has(key) && (before !== undefined || after !== undefined)) {
      return permissionChange(key, toBits(before), toBits(after), words);
    }
    if (key.endsWith("_hash")) {
      return { key, before: null, after: null };
    }
    return { key, before: readable(before, names, words), after: readable(after, names, words) };
  });
}

function toBits(value: unknown): bigint {
  return typeof value === "string" || typeof value === "number" ? BigInt(value) : 0n;
}

/** Permissions that were taken stand before, those that were given after. */
function permissionChange(key: string, before: bigint, after: bigint, words: AuditWords): ReadableChange {
  const list = (bits: bigint) => {
    const names = (Object.keys(Permission) as PermissionName[]).filter((name) => bits & Permission[name]);
    return names.length === 0 ? null : names.map(words.permission).join(", ");
  };
  return { key, before: list(before & ~after), after: list(after & ~before) };
}

function readable(value: unknown, names: AuditNames, words: AuditWords): string | null {
  if (value === undefined) {
    return null;
  }
  if (value === null || value === "") {
    return words.none;
  }
  if (typeof value === "boolean") {
    return value ? words.yes : words.no;
  }
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => readable(item, names, words)).filter((item) => item !== null);
    return items.length === 0 ? words.none : items.join(", ");
  }
  if (typeof value === "object") {
    const { name } = value as { name?: unknown };
    return typeof name === "string" ? name : JSON.stringify(value);
  }
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return ID.test(text) ? (names.channel(text) ?? names.role(text) ?? names.other(text) ?? text) : text;
}

/** The name of what an entry is about: as it is now, else as the entry has it, else its id; null for none. */
export function targetName(entry: APIAuditLogEntry, names: AuditNames): string | null {
  const id = entry.target_id;
  const known = id === null ? null : (names.channel(id) ?? names.role(id) ?? names.other(id));
  if (known !== null) {
    return known;
  }
  for (const change of (entry.changes ?? []) as { key: string; old_value?: unknown; new_value?: unknown }[]) {
    const value = change.new_value ?? change.old_value;
    if (["name", "code", "title", "topic"].includes(change.key) && typeof value === "string") {
      return value;
    }
  }
  return id;
}
