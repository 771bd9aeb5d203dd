import type { APIMessage } from "discord-api-types/v10";
import { useState } from "react";

import { createMessage } from "../../api/messages";
import { makeNonce } from "../../api/nonce";
import { useText } from "../../i18n/translate";
import { plainText } from "../../markdown/plain";
import { displayName } from "../../store/selectors";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/TextField";
import { WithActionTexts } from "../../i18n/WithActionTexts";
import { ChannelDone } from "../switcher/ChannelDone";
import { ChannelField, type ChosenChannel } from "../switcher/ChannelField";
import { ActionForm } from "../session/ActionForm";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { sendMessage } from "../composer/sending";
import { maySend } from "./forwarding";
import "./forwarding.css";

const FORWARD = 1;
const MAX_COMMENT = 2000;
const MAX_PREVIEW = 300;

interface ForwardDialogProps {
  message: APIMessage;
  onClose: () => void;
}

/** Sends a copy of a message to another channel, and a comment after it. */
export default function ForwardDialog(props: ForwardDialogProps) {
  const text = useText();
  return (
    <Dialog title={text("message.forward")} onClose={props.onClose}>
      <WithActionTexts>
        <Fields {...props} />
      </WithActionTexts>
    </Dialog>
  );
}

function Fields({ message, onClose }: ForwardDialogProps) {
  const text = useText();
  const session = useSession();
  const action = useAction();
  const [target, setTarget] = useState<ChosenChannel | null>(null);
  const [comment, setComment] = useState("");
  const [done, setDone] = useState<ChosenChannel | null>(null);
  // Trying again after an answer that was lost forwards the message once.
  const [nonce] = useState(makeNonce);
  const submit = async () => {
    if (target === null) {
      return;
    }
    const reference = { type: FORWARD, channel_id: message.channel_id, message_id: message.id };
    const forwarded = await action.run(() =>
      createMessage(session.api, target.id, { message_reference: reference, nonce, enforce_nonce: true }),
    );
    if (forwarded) {
      if (comment.trim() !== "") {
        void sendMessage(session, {
          channelId: target.id,
          content: comment.trim(),
          uploads: [],
          replyTo: null,
        });
      }
      setDone(target);
    }
  };
  if (done !== null) {
    return <ChannelDone id="messageActions.forward.done" target={done} onClose={onClose} />;
  }
  return (
    <ActionForm
      action={action}
      onSubmit={() => void submit()}
      confirm={text("message.forward")}
      onCancel={onClose}
      isDisabled={target === null}
    >
      <ChannelField
        label={text("messageActions.forward.target")}
        value={target}
        onChange={setTarget}
        keep={maySend}
        autoFocus
      />
      <Preview message={message} />
      <TextField
        label={text("messageActions.forward.comment")}
        value={comment}
        onChange={setComment}
        maxLength={MAX_COMMENT}
        multiline
      />
    </ActionForm>
  );
}

/** The beginning of the message, or what it consists of. */
function Preview({ message }: { message: APIMessage }) {
  const text = useText();
  const author = useAppState((state) => displayName(state, message.author, null));
  const files = message.attachments.map((attachment) => attachment.filename);
  const stickers = (message.sticker_items ?? []).map((sticker) => sticker.name);
  const title = message.embeds[0]?.title ?? "";
  const content = plainText(message.content, MAX_PREVIEW);
  const shown = [content, [...files, ...stickers].join(", "), title].find((each) => each !== "");
  return (
    <blockquote className="forward-preview">
      <strong>{author}</strong>
      <p>{shown ?? text("messageActions.forward.other")}</p>
    </blockquote>
  );
}
