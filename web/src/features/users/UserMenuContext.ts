import { createContext, type ReactNode } from "react";

import type { Point } from "../../ui/Menu";

export interface UserMenuProps {
  userId: string;
  guildId: string | null;
  at: Point;
  onClose: () => void;
}

/** Draws the menu of a user at the pointer. The composition root sets it, as it does the card. */
export const UserMenuContext = createContext<(props: UserMenuProps) => ReactNode>(() => null);
