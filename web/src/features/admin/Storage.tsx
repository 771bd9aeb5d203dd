import { useQuery } from "@tanstack/react-query";
import { useIntl } from "react-intl";

import { listGuildStorage, listUserStorage } from "../../api/operations";
import { useText } from "../../i18n/translate";
import { useSession } from "../session/session";
import { Rows } from "./Rows";

const GUILD_COLUMNS = ["admin.guild.name", "admin.storage.used", "admin.storage.quota"] as const;
const USER_COLUMNS = ["admin.user.name", "admin.storage.used"] as const;
const MEGABYTE = 1_000_000;

function useMegabytes() {
  const intl = useIntl();
  return (megabytes: number) =>
    intl.formatNumber(megabytes, { style: "unit", unit: "megabyte", maximumFractionDigits: 1 });
}

/** The guilds whose files have most bytes. */
export function GuildStorage() {
  const text = useText();
  const megabytes = useMegabytes();
  const { api, account } = useSession();
  const query = useQuery({
    queryKey: [account.userId, "admin", "storage", "guilds"],
    queryFn: () => listGuildStorage(api),
    retry: false,
    staleTime: 0,
  });
  return (
    <section className="admin-page" aria-labelledby="admin-storage-guilds">
      <h2 id="admin-storage-guilds">{text("admin.storage.guilds")}</h2>
      <Rows
        label="admin.storage.guilds"
        columns={GUILD_COLUMNS}
        query={query}
        rows={query.data ?? []}
        keyOf={({ id }) => id}
        cells={(guild) => [
          <span key="name" className="admin-name">
            <strong dir="auto">{guild.name ?? "–"}</strong>
            <span>{guild.id}</span>
          </span>,
          megabytes(guild.file_bytes / MEGABYTE),
          guild.quota_mb === 0 ? "–" : megabytes(guild.quota_mb),
        ]}
      />
    </section>
  );
}

/** The accounts whose files have most bytes. */
export function UserStorage() {
  const text = useText();
  const megabytes = useMegabytes();
  const { api, account } = useSession();
  const query = useQuery({
    queryKey: [account.userId, "admin", "storage", "users"],
    queryFn: () => listUserStorage(api),
    retry: false,
    staleTime: 0,
  });
  return (
    <section className="admin-page" aria-labelledby="admin-storage-users">
      <h2 id="admin-storage-users">{text("admin.storage.users")}</h2>
      <Rows
        label="admin.storage.users"
        columns={USER_COLUMNS}
        query={query}
        rows={query.data ?? []}
        keyOf={({ id }) => id}
        cells={(user) => [
          <span key="name" className="admin-name">
            <strong dir="auto">{user.username ?? "–"}</strong>
            <span>{user.id}</span>
          </span>,
          megabytes(user.file_bytes / MEGABYTE),
        ]}
      />
    </section>
  );
}
