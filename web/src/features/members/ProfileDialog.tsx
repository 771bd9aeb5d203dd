import { useContext } from "react";

import { Dialog } from "../../ui/Dialog";
import { UserCardContext } from "../users/UserCardContext";

interface ProfileDialogProps {
  userId: string;
  guildId: string | null;
  name: string;
  onClose: () => void;
}

/** A user's card in the middle of the window. */
export default function ProfileDialog({ name, ...props }: ProfileDialogProps) {
  const drawCard = useContext(UserCardContext);
  return (
    <Dialog title={name} onClose={props.onClose}>
      <div className="user-card user-card-alone">{drawCard(props)}</div>
    </Dialog>
  );
}
