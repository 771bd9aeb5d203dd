import { accountKey } from "../session/accounts";
import { useSession } from "../session/session";

/** Under which this device stores how loud the account hears others. */
export function useVolumesKey(): string {
  return accountKey(useSession().account.userId, "volumes");
}
