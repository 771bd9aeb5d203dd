import type { APIMessage } from "discord-api-types/v10";

import { crosspostMessage } from "../../api/messages";
import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { WithActionTexts } from "../../i18n/WithActionTexts";
import { ErrorNotice } from "../session/ErrorNotice";
import { useSession } from "../session/session";
import { useAction } from "../session/useAction";

interface PublishDialogProps {
  message: APIMessage;
  onClose: () => void;
}

/** Publishes a message to all channels that follow its announcement channel, after a question. */
export default function PublishDialog(props: PublishDialogProps) {
  const text = useText();
  return (
    <Dialog title={text("message.publish")} onClose={props.onClose}>
      <WithActionTexts>
        <Question {...props} />
      </WithActionTexts>
    </Dialog>
  );
}

function Question({ message, onClose }: PublishDialogProps) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const publish = async () => {
    if (await action.run(() => crosspostMessage(api, message.channel_id, message.id))) {
      onClose();
    }
  };
  return (
    <div className="stack">
      <p>{text("messageActions.publish.question")}</p>
      <ErrorNotice error={action.error} />
      <div className="dialog-actions">
        <Button onPress={onClose}>{text("common.cancel")}</Button>
        <Button kind="primary" autoFocus isDisabled={action.pending} onPress={() => void publish()}>
          {text("message.publish")}
        </Button>
      </div>
    </div>
  );
}
