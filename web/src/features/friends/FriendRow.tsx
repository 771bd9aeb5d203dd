import type { APIUser } from "discord-api-types/v10";
import { Check, MessageCircle, MoreVertical, X } from "lucide-react";
import { useState } from "react";
import { FormattedDate } from "react-intl";

import { befriend, removeRelationship } from "../../api/relationships";
import { Translate, useText } from "../../i18n/translate";
import { RelationshipType } from "../../store/relationships";
import type { Relationship } from "../../store/entities";
import { displayName } from "../../store/selectors";
import { IconButton } from "../../ui/controls";
import { Menu, MenuItem } from "../../ui/Menu";
import { useAppState, useSession } from "../session/session";
import { useAction, useErrorText } from "../session/useAction";
import { Activity, PresenceAvatar } from "../users/PresenceAvatar";
import { BlockDialog, EditFriend, RemoveFriend } from "./FriendDialogs";
import { useOpenDirect } from "./useOpenDirect";

interface FriendRowProps {
  relationship: Relationship;
  user: APIUser;
}

type Open = "block" | "edit" | "remove" | null;

/** A user of the friends page with what can be done about them. */
export function FriendRow({ relationship, user }: FriendRowProps) {
  const text = useText();
  const { api } = useSession();
  const { openDirect } = useOpenDirect();
  const action = useAction();
  const errorText = useErrorText();
  const [open, setOpen] = useState<Open>(null);
  const name = useAppState((state) => displayName(state, user, null));
  const close = () => setOpen(null);
  const { type } = relationship;
  const isFriend = type === RelationshipType.Friend;
  const remove = () => action.run(() => removeRelationship(api, user.id));
  return (
    <li className="friend">
      <PresenceAvatar user={user} name={name} size={36} />
      <span className="friend-names">
        <span>
          <strong dir="auto">{name}</strong> <span className="friend-username">{user.username}</span>
        </span>
        <span className="friend-detail">
          {isFriend ? <Activity userId={user.id} /> : <Detail relationship={relationship} />}
        </span>
        {action.error !== null && (
          <span role="alert" className="field-error">
            {errorText(action.error)}
          </span>
        )}
      </span>
      {type === RelationshipType.Incoming && (
        <IconButton
          label={text("friends.accept")}
          isDisabled={action.pending}
          onPress={() => void action.run(() => befriend(api, user.id))}
        >
          <Check size={18} />
        </IconButton>
      )}
      {type === RelationshipType.Incoming && (
        <IconButton label={text("friends.decline")} isDisabled={action.pending} onPress={() => void remove()}>
          <X size={18} />
        </IconButton>
      )}
      {type === RelationshipType.Outgoing && (
        <IconButton
          label={text("friends.withdraw")}
          isDisabled={action.pending}
          onPress={() => void remove()}
        >
          <X size={18} />
        </IconButton>
      )}
      {isFriend && (
        <IconButton
          label={text("friends.message")}
          isDisabled={action.pending}
          onPress={() => void action.run(() => openDirect(user.id))}
        >
          <MessageCircle size={18} />
        </IconButton>
      )}
      <Menu
        label={text("friends.more", { name })}
        trigger={
          <IconButton label={text("friends.more", { name })}>
            <MoreVertical size={18} />
          </IconButton>
        }
      >
        {isFriend && <MenuItem onAction={() => setOpen("edit")}>{text("friends.edit")}</MenuItem>}
        {isFriend && (
          <MenuItem danger onAction={() => setOpen("remove")}>
            {text("friends.remove")}
          </MenuItem>
        )}
        {type === RelationshipType.Blocked ? (
          <MenuItem onAction={() => void remove()}>{text("member.unblock")}</MenuItem>
        ) : (
          <MenuItem danger onAction={() => setOpen("block")}>
            {text("member.block")}
          </MenuItem>
        )}
      </Menu>
      {open === "block" && <BlockDialog user={user} name={name} onClose={close} />}
      {open === "remove" && <RemoveFriend user={user} name={name} onClose={close} />}
      {open === "edit" && <EditFriend relationship={relationship} onClose={close} />}
    </li>
  );
}

function Detail({ relationship }: { relationship: Relationship }) {
  switch (relationship.type) {
    case RelationshipType.Incoming:
      return <Translate id="friends.incoming" />;
    case RelationshipType.Outgoing:
      return <Translate id="friends.outgoing" />;
    default:
      return (
        <Translate
          id="friends.blockedSince"
          values={{ date: <FormattedDate key="date" value={relationship.since} dateStyle="medium" /> }}
        />
      );
  }
}
