import type { ReactNode } from "react";

import { WithTexts } from "./translate";
import type { Part } from "./messages";

const PARTS: readonly Part[] = ["channels"];

/** Loads the texts of threads, forums, voice channels, events and channel settings. */
export function WithChannelTexts({ children }: { children: ReactNode }) {
  return <WithTexts parts={PARTS}>{children}</WithTexts>;
}
