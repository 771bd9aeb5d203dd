import {
  ArrowLeft,
  ArrowRight,
  Info,
  Mic,
  Phone,
  Pencil,
  Pin,
  Rss,
  Sparkles,
  Spool,
  type LucideIcon,
} from "lucide-react";

import { MessageType } from "../../api/enums";

const ICONS: Partial<Record<MessageType, LucideIcon>> = {
  [MessageType.UserJoin]: ArrowRight,
  [MessageType.RecipientAdd]: ArrowRight,
  [MessageType.RecipientRemove]: ArrowLeft,
  [MessageType.Call]: Phone,
  [MessageType.ChannelNameChange]: Pencil,
  [MessageType.ChannelIconChange]: Pencil,
  [MessageType.ChannelPinnedMessage]: Pin,
  [MessageType.GuildBoost]: Sparkles,
  [MessageType.GuildBoostTier1]: Sparkles,
  [MessageType.GuildBoostTier2]: Sparkles,
  [MessageType.GuildBoostTier3]: Sparkles,
  [MessageType.ChannelFollowAdd]: Rss,
  [MessageType.ThreadCreated]: Spool,
  [MessageType.StageStart]: Mic,
  [MessageType.StageEnd]: Mic,
  [MessageType.StageTopic]: Mic,
};

/** The sign of what has happened, in the place of a picture. */
export function SystemIcon({ type }: { type: MessageType }) {
  const Icon = ICONS[type] ?? Info;
  return <Icon size={18} aria-hidden="true" className="message-system-icon" />;
}
