import type { APIUser } from "discord-api-types/v10";

import { keyBy, updateEntry, withEntry, withoutEntry } from "./records";
import type { State } from "./state";
import type { Relationship } from "./entities";

export const RelationshipType = { None: 0, Friend: 1, Blocked: 2, Incoming: 3, Outgoing: 4 } as const;

/** An entry of READY's `relationships`, and of RELATIONSHIP_ADD. */
export type RelationshipWithUser = Relationship & { user?: APIUser };

export interface ReadyRelationships {
  relationships?: RelationshipWithUser[];
  notes?: Record<string, string>;
}

/** What READY changes. */
export function readyRelationships(
  state: State,
  data: ReadyRelationships,
): Pick<State, "relationships" | "notes" | "users"> {
  const relationships = data.relationships ?? [];
  const users = relationships.flatMap(({ user }) => (user === undefined ? [] : [user]));
  return {
    relationships: keyBy(relationships.map(withoutUser), (each) => each.id),
    notes: data.notes ?? {},
    users: { ...state.users, ...keyBy(users, (user) => user.id) },
  };
}

export function relationshipAdd(state: State, { user, ...added }: RelationshipWithUser): State {
  return {
    ...state,
    relationships: withEntry(state.relationships, added.id, withoutUser(added)),
    users: user === undefined ? state.users : withEntry(state.users, user.id, user),
  };
}

export function relationshipUpdate(state: State, changed: Relationship): State {
  return {
    ...state,
    relationships: updateEntry(state.relationships, changed.id, (before) => ({ ...before, ...changed })),
  };
}

export function relationshipRemove(state: State, removed: { id: string }): State {
  return { ...state, relationships: withoutEntry(state.relationships, removed.id) };
}

export function noteUpdate(state: State, data: { id: string; note: string }): State {
  return {
    ...state,
    notes: data.note === "" ? withoutEntry(state.notes, data.id) : withEntry(state.notes, data.id, data.note),
  };
}

export function isBlocked(state: State, userId: string): boolean {
  return state.relationships[userId]?.type === RelationshipType.Blocked;
}

/** Whether the messages of a user count as neither mentions nor notifications. */
export function isSilenced(state: State, userId: string): boolean {
  return isBlocked(state, userId) || state.relationships[userId]?.user_ignored === true;
}

/** How many friend requests wait for the user's answer. */
export function incomingRequestCount(state: State): number {
  return Object.values(state.relationships).filter((each) => each.type === RelationshipType.Incoming).length;
}

export type FriendFilter = "online" | "all" | "pending" | "blocked";

/** The relationships of a tab of the friends page, with their users, by name; incoming requests first. */
export function filterRelationships(
  state: Pick<State, "relationships" | "users" | "presences">,
  filter: FriendFilter,
): { relationship: Relationship; user: APIUser }[] {
  const types: Record<FriendFilter, readonly number[]> = {
    online: [RelationshipType.Friend],
    all: [RelationshipType.Friend],
    pending: [RelationshipType.Incoming, RelationshipType.Outgoing],
    blocked: [RelationshipType.Blocked],
  };
  const name = ({ relationship, user }: { relationship: Relationship; user: APIUser }) =>
    relationship.nickname ?? user.global_name ?? user.username;
  return Object.values(state.relationships)
    .flatMap((relationship) => {
      const user = state.users[relationship.id];
      return user === undefined || !types[filter].includes(relationship.type) ? [] : [{ relationship, user }];
    })
    .filter(({ user }) => filter !== "online" || isOnline(state.presences[user.id]?.status))
    .sort((a, b) => a.relationship.type - b.relationship.type || name(a).localeCompare(name(b)));
}

function withoutUser({ id, type, nickname, user_ignored, since }: RelationshipWithUser): Relationship {
  return { id, type, nickname, user_ignored, since };
}

function isOnline(status: string | undefined): boolean {
  return status !== undefined && status !== "offline";
}
