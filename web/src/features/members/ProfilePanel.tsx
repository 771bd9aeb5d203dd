import { useText } from "../../i18n/translate";
import { closePanel } from "../overlays/panels";
import { SidePanel, SidePanelBody } from "../overlays/SidePanel";
import { UserCard } from "./UserCard";

interface ProfilePanelProps {
  userId: string;
  guildId: string | null;
}

/** A user's card beside the channel. */
export default function ProfilePanel({ userId, guildId }: ProfilePanelProps) {
  const text = useText();
  return (
    <SidePanel title={text("user.card")}>
      <SidePanelBody>
        <div className="user-card user-card-alone">
          <UserCard key={userId} userId={userId} guildId={guildId} onClose={closePanel} />
        </div>
      </SidePanelBody>
    </SidePanel>
  );
}
