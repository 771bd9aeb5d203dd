import type { CSSProperties } from "react";

/** The style of a name in a role's colour, which the style sheet mixes for contrast; undefined for none. */
export function roleColor(color: string | null): CSSProperties | undefined {
  return color === null ? undefined : ({ "--role-color": color } as CSSProperties);
}
