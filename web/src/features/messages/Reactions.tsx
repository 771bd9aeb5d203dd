import type { APIMessage, APIReaction } from "discord-api-types/v10";
import { Users } from "lucide-react";
import { useState } from "react";

import { emojiUrl } from "../../api/images";
import { setReaction } from "../../api/messages";
import { useText } from "../../i18n/translate";
import { addReaction, removeReaction } from "../../store/messages";
import { IconButton } from "../../ui/controls";
import { Toggle } from "../../ui/Toggle";
import { loaded } from "../../ui/loaded";
import { useSession, type Session } from "../session/session";

const Reactors = loaded(async () => ({ default: (await import("./Reactors")).Reactors }));

type Emoji = APIReaction["emoji"];

export function Reactions({ message, guildId }: { message: APIMessage; guildId: string | null }) {
  const text = useText();
  const session = useSession();
  const [listing, setListing] = useState(false);
  if (!message.reactions?.length) {
    return null;
  }
  return (
    <div className="reactions">
      {message.reactions.map((reaction) => (
        <Toggle
          key={reaction.emoji.id ?? reaction.emoji.name}
          className="reaction"
          isSelected={reaction.me}
          label={text("message.reaction", { emoji: reaction.emoji.name ?? "", count: reaction.count })}
          onChange={(selected) => void toggleReaction(session, message, reaction.emoji, selected)}
        >
          {reaction.emoji.id ? (
            <img src={emojiUrl(reaction.emoji.id, 18)} alt="" width={18} height={18} />
          ) : (
            <span aria-hidden="true">{reaction.emoji.name}</span>
          )}
          <span aria-hidden="true">{reaction.count}</span>
        </Toggle>
      ))}
      <span className="reactions-who">
        <IconButton label={text("reactors.title")} onPress={() => setListing(true)}>
          <Users size={16} />
        </IconButton>
      </span>
      {listing && <Reactors message={message} guildId={guildId} onClose={() => setListing(false)} />}
    </div>
  );
}

/** Show a reaction at once, and take it back if the server refuses it. */
export async function toggleReaction(
  session: Session,
  message: APIMessage,
  emoji: Emoji,
  reacts: boolean,
): Promise<void> {
  const { api, store } = session;
  const change = {
    channel_id: message.channel_id,
    message_id: message.id,
    user_id: store.state.user?.id ?? "",
    emoji,
  };
  const apply = (adds: boolean) =>
    store.update((state) => (adds ? addReaction(state, change) : removeReaction(state, change)));
  apply(reacts);
  const name = emoji.id ? `${emoji.name ?? "_"}:${emoji.id}` : (emoji.name ?? "");
  await setReaction(api, message.channel_id, message.id, name, reacts).catch(() => apply(!reacts));
}
