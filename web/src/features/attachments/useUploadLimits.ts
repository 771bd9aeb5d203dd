import { useMemo } from "react";

import { useAppState } from "../session/session";
import { uploadLimits, type UploadLimits } from "./uploads";

/** How large files may be in a guild, or with null in direct messages. */
export function useUploadLimits(guildId: string | null): UploadLimits {
  const tier = useAppState((state) => (guildId === null ? 0 : (state.guilds[guildId]?.premiumTier ?? 0)));
  const maxRequest = useAppState((state) => state.maxUploadBytes);
  return useMemo(() => uploadLimits(tier, maxRequest), [tier, maxRequest]);
}
