import { useRef, useState } from "react";

import { useText } from "../../i18n/translate";
import { displayName } from "../../store/selectors";
import { MenuAt, MenuItem } from "../../ui/Menu";
import { loaded } from "../../ui/loaded";
import { RelationshipItems } from "../friends/RelationshipItems";
import { openPanel } from "../overlays/panels";
import { useAppState } from "../session/session";
import type { UserMenuProps } from "../users/UserMenuContext";
import { MemberDialogs, MemberItems, type MemberDialogName } from "./MemberMenu";

const BlockDialog = loaded(async () => ({ default: (await import("../friends/FriendDialogs")).BlockDialog }));

/** What can be done about a user, at the pointer: about a member where they are one. */
export default function UserMenu({ userId, guildId, at, onClose }: UserMenuProps) {
  const text = useText();
  const [open, setOpen] = useState<MemberDialogName | null>(null);
  // An item that opens a dialog closes the menu, not what shows both.
  const staysOpen = useRef(false);
  const guild = useAppState((state) => (guildId === null ? undefined : state.guilds[guildId]));
  const member = useAppState((state) => (guildId === null ? undefined : state.members[guildId]?.[userId]));
  const stored = useAppState((state) => state.users[userId]);
  const isSelf = useAppState((state) => state.user?.id === userId);
  const user = member?.user ?? stored;
  const name = useAppState((state) => (user === undefined ? "" : displayName(state, user, guildId)));
  if (user === undefined) {
    return null;
  }
  const show = (dialog: MemberDialogName) => {
    staysOpen.current = true;
    setOpen(dialog);
  };
  const close = () => {
    if (!staysOpen.current) {
      onClose();
    }
  };
  return (
    <>
      {open === null && (
        <MenuAt at={at} label={text("member.menu", { name })} onClose={close}>
          {guild !== undefined && member !== undefined ? (
            <MemberItems member={member} guild={guild} hasProfile onOpen={show} />
          ) : (
            <>
              <MenuItem onAction={() => openPanel({ kind: "profile", userId })}>{text("user.card")}</MenuItem>
              {!isSelf && <RelationshipItems user={user} onBlock={() => show("block")} />}
            </>
          )}
        </MenuAt>
      )}
      {guild !== undefined && member !== undefined ? (
        <MemberDialogs open={open} member={member} guild={guild} name={name} onClose={onClose} />
      ) : (
        open === "block" && <BlockDialog user={user} name={name} onClose={onClose} />
      )}
    </>
  );
}
