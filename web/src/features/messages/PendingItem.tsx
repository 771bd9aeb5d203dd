import { Button as AriaButton } from "react-aria-components";

import { Translate, useText } from "../../i18n/translate";
import { displayName, nameColor } from "../../store/selectors";
import type { PendingMessage } from "../../store/state";
import { roleColor } from "../../ui/colors";
import { Button } from "../../ui/controls";
import { MemberAvatar } from "../users/MemberAvatar";
import { useAppState, useSession } from "../session/session";
import { Attachments } from "../attachments/Attachments";
import { Content } from "../content/Content";
import { discardMessage, retryMessage } from "../composer/sending";

interface PendingItemProps {
  pending: PendingMessage;
  guildId: string | null;
  /** Whether it follows another message of the user within minutes: without avatar and name. */
  compact: boolean;
}

/** A message that is being sent, or was refused: it looks as it will once it is sent, so that nothing moves. */
export function PendingItem({ pending, guildId, compact }: PendingItemProps) {
  const text = useText();
  const session = useSession();
  const user = useAppState((state) => state.user);
  const color = useAppState((state) => (user === null ? null : nameColor(state, user.id, guildId)));
  const name = useAppState((state) => (user === null ? "" : displayName(state, user, guildId)));
  return (
    <article className={`message message-pending${compact ? " message-compact" : ""}`}>
      <div className="message-gutter">
        {!compact && <MemberAvatar user={user ?? undefined} guildId={guildId} name={name} size={40} />}
      </div>
      <div className="message-body">
        <div className={compact ? "visually-hidden" : "message-header"}>
          <strong className="message-author" style={roleColor(color)}>
            {name}
          </strong>
        </div>
        {pending.content !== "" && <Content content={pending.content} guildId={guildId} />}
        <Attachments attachments={[]} stickers={pending.stickers} />
        {pending.fileNames.length > 0 && (
          <p className="message-edited message-uploading">
            <span dir="auto">{pending.fileNames.join(", ")}</span>
            <progress value={pending.progress} aria-label={text("message.sending")} />
          </p>
        )}
        {pending.failure === null ? (
          <p className="message-edited message-sending">
            <Translate id="message.sending" />{" "}
            <AriaButton className="link-button" onPress={() => discardMessage(session.store, pending.nonce)}>
              {text("common.cancel")}
            </AriaButton>
          </p>
        ) : (
          <div role="alert" className="message-failure">
            <span className="field-error">
              <Translate id="message.failed" values={{ reason: pending.failure.message }} />
            </span>
            <Button kind="quiet" onPress={() => void retryMessage(session, pending)}>
              {text("common.retry")}
            </Button>
            <Button kind="quiet" onPress={() => discardMessage(session.store, pending.nonce)}>
              {text("message.discard")}
            </Button>
          </div>
        )}
      </div>
    </article>
  );
}
