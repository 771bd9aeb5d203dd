import { ChannelType } from "../../api/enums";
import {
  AtSign,
  Hash,
  Image,
  Megaphone,
  MessagesSquare,
  Mic,
  Spool,
  Users,
  Volume2,
  type LucideIcon,
} from "lucide-react";

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

export function ChannelIcon({ type }: { type: ChannelType }) {
  const Icon = ICONS[type] ?? Hash;
  return <Icon size={18} aria-hidden="true" className="channel-icon" />;
}
