import { useContext, useState, type CSSProperties, type MouseEvent, type ReactNode } from "react";
import { Button } from "react-aria-components";

import { useText } from "../../i18n/translate";
import { Panel } from "../../ui/Panel";
import type { Point } from "../../ui/Menu";
import { UserCardContext } from "./UserCardContext";
import { UserMenuContext } from "./UserMenuContext";

interface UserTriggerProps {
  userId: string;
  guildId: string | null;
  /** For screen readers, where the content names the user already it is not needed. */
  label?: string;
  className: string;
  id?: string;
  style?: CSSProperties | undefined;
  /** Whether the Tab key passes it over: another trigger of the same user stands beside it. */
  excludeFromTabOrder?: boolean;
  children: ReactNode;
}

/** There is no room for the card beside the button. */
const NARROW = "(max-width: 719px)";

/** A button, such as a name or a mention, that opens a card about its user. */
export function UserTrigger({ userId, guildId, label, children, ...button }: UserTriggerProps) {
  const text = useText();
  const drawCard = useContext(UserCardContext);
  const drawMenu = useContext(UserMenuContext);
  const [open, setOpen] = useState(false);
  const [menuAt, setMenuAt] = useState<Point | null>(null);
  const openMenu = (event: MouseEvent) => {
    event.preventDefault();
    // The message around it has a menu of its own.
    event.stopPropagation();
    setMenuAt({ left: event.clientX, top: event.clientY });
  };
  const card = (
    <Panel
      label={text("user.card")}
      className="user-card"
      placement={matchMedia(NARROW).matches ? "bottom" : "end top"}
      isOpen={open}
      onOpenChange={setOpen}
      trigger={
        <Button {...button} {...(label !== undefined && { "aria-label": label })}>
          {children}
        </Button>
      }
    >
      {drawCard({ userId, guildId, onClose: () => setOpen(false) })}
    </Panel>
  );
  return (
    // The event comes from the button inside, which has the focus.
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions
    <span className="user-trigger" onContextMenu={openMenu}>
      {card}
      {menuAt !== null && drawMenu({ userId, guildId, at: menuAt, onClose: () => setMenuAt(null) })}
    </span>
  );
}
