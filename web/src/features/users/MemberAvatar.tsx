import type { APIUser } from "discord-api-types/v10";

import { shownAvatar } from "../../store/selectors";
import { Avatar } from "../../ui/controls";
import { useAppState } from "../session/session";

interface MemberAvatarProps {
  /** Undefined where only the name is known. */
  user: Pick<APIUser, "id" | "avatar"> | undefined;
  guildId: string | null;
  name: string;
  size: number;
}

/** A user's avatar: the one of the guild, if they have one there. */
export function MemberAvatar({ user, guildId, name, size }: MemberAvatarProps) {
  const url = useAppState((state) => (user === undefined ? null : shownAvatar(state, user, guildId, size)));
  return <Avatar url={url} name={name} size={size} hueKey={user?.id} />;
}
