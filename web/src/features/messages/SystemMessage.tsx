import type { APIMessage } from "discord-api-types/v10";

import { MessageType } from "../../api/enums";
import type { MessageId } from "../../i18n/messages";
import { Translate } from "../../i18n/translate";
import { displayName } from "../../store/selectors";
import { loaded } from "../../ui/loaded";
import { clockOf } from "../../ui/times";
import { useAppState } from "../session/session";

const AlertMessage = loaded(() => import("./AlertMessage"));
const PollResult = loaded(() => import("../polls/PollResult"));

const BOOST = "message.system.boost";
const TEXTS: Partial<Record<MessageType, MessageId>> = {
  [MessageType.RecipientAdd]: "message.system.add",
  [MessageType.RecipientRemove]: "message.system.remove",
  [MessageType.ChannelNameChange]: "message.system.name",
  [MessageType.ChannelIconChange]: "message.system.icon",
  [MessageType.ChannelPinnedMessage]: "message.system.pin",
  [MessageType.UserJoin]: "message.system.join",
  [MessageType.GuildBoost]: BOOST,
  [MessageType.GuildBoostTier1]: BOOST,
  [MessageType.GuildBoostTier2]: BOOST,
  [MessageType.GuildBoostTier3]: BOOST,
  [MessageType.ChannelFollowAdd]: "message.system.follow",
  [MessageType.ThreadCreated]: "message.system.thread",
  [MessageType.StageStart]: "message.system.stageStart",
  [MessageType.StageEnd]: "message.system.stageEnd",
  [MessageType.StageTopic]: "message.system.stageTopic",
};

interface SystemMessageProps {
  message: APIMessage;
  guildId: string | null;
  onJump: (messageId: string) => void;
}

/** What a message says that the server has written. */
export function SystemMessage({ message, guildId, onJump }: SystemMessageProps) {
  const [target] = message.mentions;
  const user = useAppState((state) => (target === undefined ? "" : displayName(state, target, guildId)));
  switch (message.type) {
    case MessageType.AutoModerationAction:
      return <AlertMessage message={message} guildId={guildId} />;
    case MessageType.Call:
      return <CallMessage message={message} />;
    case MessageType.PollResult:
      return <PollResult message={message} onJump={onJump} />;
    default: {
      const id = textOf(message);
      return (
        <p className="message-system">
          {id === undefined ? (
            message.content
          ) : (
            <Translate id={id} values={{ name: message.content, user: <strong key="user">{user}</strong> }} />
          )}
        </p>
      );
    }
  }
}

/** How a call went: for those who were not in it, it was missed. */
function CallMessage({ message }: { message: APIMessage }) {
  const userId = useAppState((state) => state.user?.id ?? "");
  const ended = message.call?.ended_timestamp ?? null;
  const wasThere = message.call?.participants.includes(userId) ?? false;
  if (ended === null) {
    return (
      <p className="message-system">
        <Translate id="message.system.call" />
      </p>
    );
  }
  const seconds = Math.round((Date.parse(ended) - Date.parse(message.timestamp)) / 1000);
  return (
    <p className="message-system">
      <Translate
        id={wasThere ? "message.system.callEnded" : "message.system.callMissed"}
        values={{ duration: clockOf(seconds) }}
      />
    </p>
  );
}

function textOf(message: APIMessage): MessageId | undefined {
  const isSelf = message.mentions[0]?.id === message.author.id;
  return isSelf && message.type === MessageType.RecipientRemove
    ? "message.system.leave"
    : isSelf && message.type === MessageType.RecipientAdd
      ? "message.system.join"
      : TEXTS[message.type];
}
