import type { APIUser } from "discord-api-types/v10";

import { displayName } from "../../store/selectors";
import { useAppState } from "../session/session";
import { MemberAvatar } from "./MemberAvatar";

/** A user in a list: the avatar, the name in the guild if there is one, and the username. */
export function UserRow({ user, guildId }: { user: APIUser; guildId: string | null }) {
  const name = useAppState((state) => displayName(state, user, guildId));
  return (
    <li>
      <MemberAvatar user={user} guildId={guildId} name={name} size={28} />
      <span>{name}</span>
      <span className="field-hint">{user.username}</span>
    </li>
  );
}
