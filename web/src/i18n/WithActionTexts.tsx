import type { ReactNode } from "react";

import type { Part } from "./messages";
import { WithTexts } from "./translate";

const PARTS: readonly Part[] = ["message_actions"];

/** Loads the texts of forwarding, publishing and following, of polls, of the calendar and of stickers. */
export function WithActionTexts({ fallback, children }: { fallback?: ReactNode; children: ReactNode }) {
  return (
    <WithTexts parts={PARTS} fallback={fallback}>
      {children}
    </WithTexts>
  );
}
