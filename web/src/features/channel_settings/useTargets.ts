import { useEffect, useMemo, useState } from "react";

import { getMember } from "../../api/users";
import { displayName } from "../../store/selectors";
import type { PickerOption } from "../../ui/Picker";
import { useMemberSearch } from "../completion/useMemberSearch";
import { useAppState, useSession } from "../session/session";

interface Targets {
  /** All roles from the highest to the lowest, then the members that are known. */
  options: readonly PickerOption[];
  /** Search the members that are not known yet. */
  onSearch: (query: string) => void;
  nameOf: (id: string) => string;
  isRole: (id: string) => boolean;
}

/** The roles and members that a channel's permissions are for. Members in `ids` are loaded, others by searching. */
export function useTargets(guildId: string, ids: readonly string[]): Targets {
  const { api, store } = useSession();
  const [query, setQuery] = useState("");
  useMemberSearch(guildId, query.trim());
  const roles = useAppState((state) => state.guilds[guildId]?.roles);
  const members = useAppState((state) => state.members[guildId]);
  const options = useMemo(
    () => [
      ...Object.values(roles ?? {})
        .filter((role) => role.id !== guildId)
        .sort((a, b) => b.position - a.position)
        .map((role) => ({ id: role.id, name: `@${role.name.replace(/^@/, "")}` })),
      ...Object.values(members ?? {})
        .map(({ user }) => ({
          id: user.id,
          name: displayName(store.state, user, guildId),
          keywords: `${user.username} ${user.global_name ?? ""}`,
        }))
        .sort((a, b) => a.name.localeCompare(b.name)),
    ],
    [roles, members, store, guildId],
  );
  const missing = ids.filter((id) => roles?.[id] === undefined && members?.[id] === undefined).join(" ");
  useEffect(() => {
    const abort = new AbortController();
    for (const id of missing.split(" ").filter((each) => each !== "")) {
      getMember(api, guildId, id, abort.signal).then(
        (member) => store.dispatch("GUILD_MEMBERS_CHUNK", { guild_id: guildId, members: [member] }),
        // Who has left keeps an overwrite, which shows the id.
        () => undefined,
      );
    }
    return () => abort.abort();
  }, [api, store, guildId, missing]);
  return {
    options,
    onSearch: setQuery,
    nameOf: (id) => (id === guildId ? "@everyone" : (options.find((option) => option.id === id)?.name ?? id)),
    isRole: (id) => roles?.[id] !== undefined,
  };
}
