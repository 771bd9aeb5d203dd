import { Link } from "@tanstack/react-router";
import type { APIMessage } from "discord-api-types/v10";
import { useState } from "react";

import { createMessage } from "../../api/messages";
import { makeNonce } from "../../api/nonce";
import { Translate, useText } from "../../i18n/translate";
import { plainText } from "../../markdown/plain";
import { displayName } from "../../store/selectors";
import { Button, Dialog, TextField } from "../../ui/controls";
import { ChannelField, type ChosenChannel } from "../channels/ChannelField";
import { ActionForm } from "../session/ActionForm";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { maySend } from "./forwarding";
import { sendMessage } from "./sending";
import { WithActionTexts } from "./WithActionTexts";
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
    return <Done target={done} onClose={onClose} />;
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

function Done({ target, onClose }: { target: ChosenChannel; onClose: () => void }) {
  const text = useText();
  const params = { guildId: target.guildId ?? "@me", channelId: target.id };
  return (
    <div className="stack">
      <p role="status">
        <Translate
          id="messageActions.forward.done"
          values={{ name: target.name, b: (chunks) => <strong key="name">{chunks}</strong> }}
        />
      </p>
      <div className="dialog-actions">
        <Link
          to={target.guildId === null ? "/channels/@me/$channelId" : "/channels/$guildId/$channelId"}
          params={params}
          className="button button-plain"
          onClick={onClose}
        >
          {text("messageActions.forward.open")}
        </Link>
        <Button kind="primary" autoFocus onPress={onClose}>
          {text("common.close")}
        </Button>
      </div>
    </div>
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
