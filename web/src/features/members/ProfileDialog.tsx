import { Dialog } from "../../ui/controls";
import { UserCard } from "./UserCard";

interface ProfileDialogProps {
  userId: string;
  guildId: string | null;
  name: string;
  onClose: () => void;
}

/** A user's card in the middle of the window. */
export default function ProfileDialog({ name, ...props }: ProfileDialogProps) {
  return (
    <Dialog title={name} onClose={props.onClose}>
      <div className="user-card user-card-alone">
        <UserCard {...props} />
      </div>
    </Dialog>
  );
}
