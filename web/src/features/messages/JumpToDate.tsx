import { useState } from "react";

import type { ApiClient } from "../../api/client";
import { getMessages } from "../../api/messages";
import { useText } from "../../i18n/translate";
import { TextField } from "../../ui/TextField";
import { WithActionTexts } from "../../i18n/WithActionTexts";
import { ActionForm } from "../session/ActionForm";
import { useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { dayOf, idBeforeDay } from "./days";

interface JumpToDateProps {
  channelId: string;
  /** The moment whose day is proposed, in milliseconds since the epoch. */
  time: number;
  onJump: (messageId: string) => void;
  onClose: () => void;
}

/** Goes to the first message of a day, or to the next one after it. */
export default function JumpToDate(props: JumpToDateProps) {
  return (
    <WithActionTexts>
      <Fields {...props} />
    </WithActionTexts>
  );
}

function Fields({ channelId, time, onJump, onClose }: JumpToDateProps) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const [day, setDay] = useState(() => dayOf(time));
  const [isEmpty, setEmpty] = useState(false);
  const beforeId = idBeforeDay(day);
  const jump = async (id: string) => {
    setEmpty(false);
    const messageId = await firstAfter(api, channelId, id);
    if (messageId === null) {
      setEmpty(true);
      return;
    }
    onClose();
    onJump(messageId);
  };
  return (
    <ActionForm
      action={action}
      onSubmit={() => {
        if (beforeId !== null) {
          void action.run(() => jump(beforeId));
        }
      }}
      confirm={text("messageActions.date.jump")}
      onCancel={onClose}
      isDisabled={beforeId === null}
    >
      <TextField
        label={text("messageActions.date.label")}
        hint={text("messageActions.date.hint")}
        type="date"
        value={day}
        onChange={setDay}
        autoFocus
        error={isEmpty ? text("messageActions.date.none") : undefined}
      />
    </ActionForm>
  );
}

/** The first message after an id, or the newest one before it; null for an empty channel. */
async function firstAfter(api: ApiClient, channelId: string, id: string): Promise<string | null> {
  const [first] = await getMessages(api, channelId, { after: id, limit: 1 });
  const [newest] = first === undefined ? await getMessages(api, channelId, { limit: 1 }) : [first];
  return newest?.id ?? null;
}
