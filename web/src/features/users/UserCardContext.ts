import { createContext, type ReactNode } from "react";

export interface UserCardProps {
  userId: string;
  guildId: string | null;
  onClose: () => void;
}

/** Draws the card about a user. The composition root sets it: the card itself contains names that open cards. */
export const UserCardContext = createContext<(props: UserCardProps) => ReactNode>(() => null);
