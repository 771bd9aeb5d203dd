import type { APIUser } from "discord-api-types/v10";

import { avatarUrl } from "../../api/images";
import { displayName } from "../../store/selectors";
import { Avatar } from "../../ui/controls";
import { useAppState } from "../session/session";

/** A user in a list: the avatar, the name in the guild if there is one, and the username. */
export function UserRow({ user, guildId }: { user: APIUser; guildId: string | null }) {
  const name = useAppState((state) => displayName(state, user, guildId));
  return (
    <li>
      <Avatar url={avatarUrl(user, 28)} name={name} size={28} />
      <span>{name}</span>
      <span className="field-hint">{user.username}</span>
    </li>
  );
}
