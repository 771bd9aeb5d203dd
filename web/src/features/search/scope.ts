import { channelName } from "../../store/selectors";
import type { State } from "../../store/state";
import type { SearchScope } from "../../api/search";
import { recipientsOf } from "../direct/recipients";
import { viewableChannels } from "../completion/completion";
import type { Names } from "./filters";

/** The id that the latest searches are kept under. */
export function scopeId(scope: SearchScope): string {
  return scope.guildId ?? scope.channelId;
}

/** The name of what is searched. */
export function scopeName(state: State, scope: SearchScope): string {
  if (scope.guildId !== null) {
    return state.guilds[scope.guildId]?.name ?? "";
  }
  const channel = state.channels[scope.channelId];
  return channel === undefined ? "" : channelName(state, channel);
}

/** The ids of the users and channels that typed filters name. A direct message has no other channels. */
export function namesOf(state: State, scope: SearchScope): Names {
  const isSame = (a: string | null | undefined, b: string) => a?.toLowerCase() === b.toLowerCase();
  return {
    user: (name) =>
      usersOf(state, scope).find(({ user, nick }) =>
        [user.username, user.global_name, nick].some((each) => isSame(each, name)),
      )?.user.id ?? null,
    channel: (name) =>
      scope.guildId === null
        ? null
        : (viewableChannels(state, scope.guildId).find((each) => isSame(channelName(state, each), name))
            ?.id ?? null),
  };
}

function usersOf(state: State, scope: SearchScope) {
  if (scope.guildId !== null) {
    return Object.values(state.members[scope.guildId] ?? {});
  }
  const channel = state.channels[scope.channelId];
  const users = channel === undefined ? [] : recipientsOf(channel);
  return (state.user === null ? users : [...users, state.user]).map((user) => ({ user, nick: null }));
}
