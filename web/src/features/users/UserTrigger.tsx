import { useContext, useState, type CSSProperties, type ReactNode } from "react";
import { Button } from "react-aria-components";

import { useText } from "../../i18n/translate";
import { Panel } from "../../ui/Panel";
import { UserCardContext } from "./UserCardContext";

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
  const [open, setOpen] = useState(false);
  return (
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
}
