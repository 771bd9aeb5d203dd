import { useEffect } from "react";

import { searchMembers } from "../../api/members";
import { useSession } from "../session/session";

const MEMBER_SEARCH_MS = 250;

/** Load the members of a guild whose names begin with a text; they become part of the state. */
export function useMemberSearch(guildId: string | null, query: string): void {
  const { api, store } = useSession();
  useEffect(() => {
    const known = guildId === null ? 0 : Object.keys(store.state.members[guildId] ?? {}).length;
    const total = guildId === null ? 0 : (store.state.guilds[guildId]?.memberCount ?? 0);
    if (guildId === null || query === "" || known >= total) {
      return undefined;
    }
    const abort = new AbortController();
    const timer = setTimeout(() => {
      searchMembers(api, guildId, query, abort.signal).then(
        (members) => store.dispatch("GUILD_MEMBERS_CHUNK", { guild_id: guildId, members }),
        () => undefined,
      );
    }, MEMBER_SEARCH_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [api, store, guildId, query]);
}
