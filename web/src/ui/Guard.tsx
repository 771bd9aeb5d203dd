import type { ReactNode } from "react";

import { Boundary } from "./Boundary";
import { isLoadError } from "./loadErrors";

/**
 * Keeps what one person wrote or uploaded from taking the screens of others: where a part cannot be drawn, `fallback`
 * stands in its place, and what is around it stays.
 */
export function Guard({ fallback, children }: { fallback: ReactNode; children: ReactNode }) {
  return (
    <Boundary passes={isLoadError} fallback={fallback}>
      {children}
    </Boundary>
  );
}
