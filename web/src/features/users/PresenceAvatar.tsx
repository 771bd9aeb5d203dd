import type { APIUser } from "discord-api-types/v10";

import { avatarUrl } from "../../api/images";
import { useText } from "../../i18n/translate";
import { Avatar } from "../../ui/controls";
import { useAppState } from "../session/session";
import { presenceText, usePresence } from "./presence";
import "./presence.css";

interface PresenceAvatarProps {
  user: APIUser;
  name: string;
  size: number;
}

/** A user's avatar with a dot in the colour of their status. */
export function PresenceAvatar({ user, name, size }: PresenceAvatarProps) {
  const text = useText();
  const status = useAppState((state) => state.presences[user.id]?.status ?? "offline");
  return (
    <span className="presence">
      <Avatar url={avatarUrl(user, size)} name={name} size={size} hueKey={user.id} />
      <span className={`presence-dot presence-${status}`} />
      <span className="visually-hidden">{text(presenceText(status))}</span>
    </span>
  );
}

/** What a user does or says about themselves; the custom status first. */
export function Activity({ userId }: { userId: string }) {
  const activity = usePresence(userId);
  return activity === null ? null : <span className="presence-activity">{activity}</span>;
}
