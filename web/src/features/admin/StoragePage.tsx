import { useQueryClient } from "@tanstack/react-query";

import type { Operator } from "../../api/admin";
import { useSession } from "../session/session";
import { GuildStorage, UserStorage } from "./Storage";

/** What guilds and accounts have stored: of each what the operator may see. */
export default function StoragePage() {
  const { account } = useSession();
  const operator = useQueryClient().getQueryData<Operator>([account.userId, "admin", "operator"]);
  return (
    <div className="admin-page">
      {operator?.permissions.includes("guilds") === true && <GuildStorage />}
      {operator?.permissions.includes("users") === true && <UserStorage />}
    </div>
  );
}
