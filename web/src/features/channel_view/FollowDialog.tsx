import type { APIChannel } from "discord-api-types/v10";
import { useCallback, useState } from "react";

import { followChannel } from "../../api/channels";
import { useText } from "../../i18n/translate";
import type { State } from "../../store/state";
import { Dialog } from "../../ui/Dialog";
import { WithActionTexts } from "../../i18n/WithActionTexts";
import { mayFollowInto } from "../messages/forwarding";
import { ActionForm } from "../session/ActionForm";
import { useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { ChannelDone } from "../switcher/ChannelDone";
import { ChannelField, type ChosenChannel } from "../switcher/ChannelField";

interface FollowDialogProps {
  channel: APIChannel;
  onClose: () => void;
}

/** Lets one of the user's channels receive what an announcement channel publishes. */
export default function FollowDialog(props: FollowDialogProps) {
  const text = useText();
  return (
    <Dialog title={text("channel.follow")} onClose={props.onClose}>
      <WithActionTexts>
        <Fields {...props} />
      </WithActionTexts>
    </Dialog>
  );
}

function Fields({ channel, onClose }: FollowDialogProps) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const [target, setTarget] = useState<ChosenChannel | null>(null);
  const [done, setDone] = useState(false);
  const keep = useCallback(
    (state: State, each: APIChannel) => mayFollowInto(state, each, channel),
    [channel],
  );
  if (done && target !== null) {
    return <ChannelDone id="messageActions.follow.done" target={target} onClose={onClose} />;
  }
  return (
    <ActionForm
      action={action}
      onSubmit={() => {
        if (target !== null) {
          void action.run(() => followChannel(api, channel.id, target.id)).then(setDone);
        }
      }}
      confirm={text("channel.follow")}
      onCancel={onClose}
      isDisabled={target === null}
    >
      <p className="field-hint">{text("messageActions.follow.hint")}</p>
      <ChannelField
        label={text("messageActions.follow.target")}
        value={target}
        onChange={setTarget}
        keep={keep}
        autoFocus
      />
    </ActionForm>
  );
}
