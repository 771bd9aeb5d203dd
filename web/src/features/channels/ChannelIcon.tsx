import {
  AtSign,
  Hash,
  Image,
  Lock,
  Megaphone,
  MessagesSquare,
  Mic,
  Spool,
  TriangleAlert,
  Users,
  Volume2,
  type LucideIcon,
} from "lucide-react";

import { ChannelType } from "../../api/enums";
import { useText } from "../../i18n/translate";
import { NO_SIGNS, type ChannelSigns } from "../../store/channelSigns";

const ICONS: Partial<Record<ChannelType, LucideIcon>> = {
  [ChannelType.GuildVoice]: Volume2,
  [ChannelType.GuildStageVoice]: Mic,
  [ChannelType.GuildAnnouncement]: Megaphone,
  [ChannelType.GuildForum]: MessagesSquare,
  [ChannelType.GuildMedia]: Image,
  [ChannelType.PublicThread]: Spool,
  [ChannelType.PrivateThread]: Spool,
  [ChannelType.AnnouncementThread]: Spool,
  [ChannelType.DM]: AtSign,
  [ChannelType.GroupDM]: Users,
};

interface ChannelIconProps {
  type: ChannelType;
  signs?: ChannelSigns;
}

/** The icon of a type of channels, with the signs of those that not everybody may enter. */
export function ChannelIcon({ type, signs = NO_SIGNS }: ChannelIconProps) {
  const Icon = ICONS[type] ?? Hash;
  const icon = <Icon size={18} aria-hidden="true" className="channel-icon" />;
  return signs.isPrivate || signs.isAgeRestricted ? (
    <span className="channel-signs">
      {icon}
      {signs.isPrivate && <Lock className="channel-sign channel-sign-private" aria-hidden="true" />}
      {signs.isAgeRestricted && (
        <TriangleAlert className="channel-sign channel-sign-adult" aria-hidden="true" />
      )}
    </span>
  ) : (
    icon
  );
}

/** The same for screen readers. */
export function ChannelSignTexts({ signs }: { signs: ChannelSigns }) {
  const text = useText();
  return (
    <>
      {signs.isPrivate && <span className="visually-hidden">{text("channel.private")}</span>}
      {signs.isAgeRestricted && <span className="visually-hidden">{text("channel.ageRestricted")}</span>}
    </>
  );
}
