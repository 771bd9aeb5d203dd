import type { APIUser } from "discord-api-types/v10";

import { befriend, removeRelationship } from "../../api/relationships";
import { useText } from "../../i18n/translate";
import { RelationshipType } from "../../store/relationships";
import { MenuItem } from "../../ui/Menu";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";

interface RelationshipItemsProps {
  user: APIUser;
  /** Called to ask before blocking. */
  onBlock: () => void;
}

/** The items of a user's menu that befriend, block and unblock them. */
export function RelationshipItems({ user, onBlock }: RelationshipItemsProps) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const type = useAppState((state) => state.relationships[user.id]?.type ?? RelationshipType.None);
  const isBlocked = type === RelationshipType.Blocked;
  return (
    <>
      {user.bot !== true && (type === RelationshipType.None || type === RelationshipType.Incoming) && (
        <MenuItem onAction={() => void action.run(() => befriend(api, user.id))}>
          {text("member.befriend")}
        </MenuItem>
      )}
      {isBlocked ? (
        <MenuItem onAction={() => void action.run(() => removeRelationship(api, user.id))}>
          {text("member.unblock")}
        </MenuItem>
      ) : (
        <MenuItem danger onAction={onBlock}>
          {text("member.block")}
        </MenuItem>
      )}
    </>
  );
}
