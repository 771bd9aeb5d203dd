import type { ReactNode } from "react";

import type { Part } from "../../i18n/messages";
import { WithTexts } from "../../i18n/translate";

const PARTS: readonly Part[] = ["events"];

export function WithEventTexts({ children }: { children: ReactNode }) {
  return <WithTexts parts={PARTS}>{children}</WithTexts>;
}
