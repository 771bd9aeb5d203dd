import type { APIChannel } from "discord-api-types/v10";

import type { Part } from "../../i18n/messages";
import { useText, WithTexts } from "../../i18n/translate";
import { Dialog } from "../../ui/Dialog";
import { ChannelNotifications, GuildNotifications } from "./GuildNotifications";

const PARTS: readonly Part[] = ["settings"];

interface NotificationDialogProps {
  /** "@me" for direct messages. */
  guildId: string;
  /** Null for the guild as a whole. */
  channel: APIChannel | null;
  onClose: () => void;
}

/** The notification settings of a guild, or of a channel. */
export default function NotificationDialog(props: NotificationDialogProps) {
  return (
    <WithTexts parts={PARTS}>
      <Content {...props} />
    </WithTexts>
  );
}

function Content({ guildId, channel, onClose }: NotificationDialogProps) {
  const text = useText();
  return (
    <Dialog title={text("settings.notifications")} onClose={onClose}>
      {channel === null ? (
        <GuildNotifications guildId={guildId} />
      ) : (
        <ChannelNotifications guildId={guildId} channel={channel} />
      )}
    </Dialog>
  );
}
