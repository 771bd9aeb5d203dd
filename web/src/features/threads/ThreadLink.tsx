import type { APIMessage } from "discord-api-types/v10";
import { Spool } from "lucide-react";
import { Button as AriaButton } from "react-aria-components";

import { useText } from "../../i18n/translate";
import { isThread } from "../../store/channels";
import { isArchived } from "../../store/threads";
import { useAppState } from "../session/session";
import "./threads.css";
import { useOpenThread } from "./useOpenThread";

/** The thread that a message has begun or announces; nothing for other messages. */
export function ThreadLink({ message, guildId }: { message: APIMessage; guildId: string | null }) {
  const text = useText();
  const open = useOpenThread();
  const threadId = threadIdOf(message);
  const thread = useAppState((state) =>
    threadId === null ? undefined : (state.channels[threadId] ?? message.thread),
  );
  if (guildId === null || thread === undefined || !isThread(thread)) {
    return null;
  }
  return (
    <AriaButton
      className="thread-link"
      onPress={() => open({ guildId, parentId: message.channel_id, threadId: thread.id })}
    >
      <Spool size={16} aria-hidden="true" />
      <span className="visually-hidden">{text("thread.openPrefix")}</span>
      <strong>{thread.name}</strong>
      <span className="thread-link-count">
        {text("thread.messages", { count: thread.message_count ?? 0 })}
      </span>
      {isArchived(thread) && <span className="tag tag-quiet">{text("thread.archived")}</span>}
    </AriaButton>
  );
}

const THREAD_CREATED = 18;

/** A thread that was started from a message has its id. The first message of a post has it as well, but is in it. */
function threadIdOf(message: APIMessage): string | null {
  if ((message.type as number) === THREAD_CREATED) {
    return message.message_reference?.channel_id ?? null;
  }
  return message.id === message.channel_id ? null : message.id;
}
