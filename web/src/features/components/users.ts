import type { APIUser } from "discord-api-types/v10";

import { displayName } from "../../store/selectors";
import type { State } from "../../store/state";
import type { Option } from "./types";

/** The users that a select offers: members of the guild, else the user and those of their conversations. */
export function userChoices(state: State, guildId: string | null): Option[] {
  const users = guildId === null ? conversants(state) : membersOf(state, guildId);
  return users
    .map((user) => ({ value: user.id, label: displayName(state, user, guildId) }))
    .sort((a, b) => a.label.localeCompare(b.label));
}

function membersOf(state: State, guildId: string): APIUser[] {
  return Object.values(state.members[guildId] ?? {}).map(({ user }) => user);
}

function conversants(state: State): APIUser[] {
  const recipients = Object.values(state.channels).flatMap((channel) =>
    "recipients" in channel ? (channel.recipients ?? []) : [],
  );
  const users = state.user === null ? recipients : [...recipients, state.user];
  return [...new Map(users.map((user) => [user.id, user])).values()];
}
