import { Button as AriaButton } from "react-aria-components";

import { avatarUrl } from "../../api/images";
import { Translate, useText } from "../../i18n/translate";
import { displayName } from "../../store/selectors";
import type { PendingMessage } from "../../store/state";
import { Avatar, Button } from "../../ui/controls";
import { useAppState, useSession } from "../session/session";
import { Attachments } from "./Attachments";
import { Content } from "./Content";
import { discardMessage, retryMessage } from "./sending";

/** A message that is being sent, or was refused. */
export function PendingItem({ pending }: { pending: PendingMessage }) {
  const text = useText();
  const session = useSession();
  const user = useAppState((state) => state.user);
  const name = useAppState((state) => (user === null ? "" : displayName(state, user, null)));
  return (
    <article className="message message-pending">
      <div className="message-gutter">
        <Avatar url={user === null ? null : avatarUrl(user, 40)} name={name} size={40} />
      </div>
      <div className="message-body">
        <div className="message-header">
          <strong className="message-author">{name}</strong>
        </div>
        {pending.content !== "" && <Content content={pending.content} guildId={null} />}
        <Attachments attachments={[]} stickers={pending.stickers} />
        {pending.fileNames.length > 0 && (
          <p className="message-edited">
            {pending.fileNames.join(", ")}
            <progress value={pending.progress} aria-label={text("message.sending")} />
          </p>
        )}
        {pending.failure === null ? (
          <p className="message-edited">
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
