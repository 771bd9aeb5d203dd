import type { APIMessage } from "discord-api-types/v10";
import { Trash2, X } from "lucide-react";
import { useEffect, useState } from "react";

import { bulkDeleteMessages, deleteMessage } from "../../api/messages";
import { useText } from "../../i18n/translate";
import { displayName } from "../../store/selectors";
import { Button } from "../../ui/controls";
import { Checkbox } from "../../ui/fields";
import { WithActionTexts } from "../../i18n/WithActionTexts";
import { Confirm } from "../session/Confirm";
import { useAppState, useSession } from "../session/session";
import { canSelect, MAX_SELECTED } from "./selecting";
import "./selection.css";

interface SelectBoxProps {
  message: APIMessage;
  guildId: string | null;
  selected: ReadonlySet<string>;
  onSelect: (messageId: string) => void;
}

/** Selects a message, or takes it out of the selection. */
export function SelectBox(props: SelectBoxProps) {
  return (
    <WithActionTexts>
      <Box {...props} />
    </WithActionTexts>
  );
}

function Box({ message, guildId, selected, onSelect }: SelectBoxProps) {
  const text = useText();
  const name = useAppState((state) => displayName(state, message.author, guildId));
  const [now] = useState(() => Date.now());
  const isSelected = selected.has(message.id);
  return (
    <span className="selection-box">
      <Checkbox
        hidesLabel
        label={text("messageActions.select.of", { name, content: message.content.slice(0, 80) })}
        isSelected={isSelected}
        isDisabled={!isSelected && !canSelect(message, selected.size, now)}
        onChange={() => onSelect(message.id)}
      />
    </span>
  );
}

interface SelectionBarProps {
  channelId: string;
  selected: ReadonlySet<string>;
  onClose: () => void;
}

/** How many messages are selected, and their deletion. */
export function SelectionBar(props: SelectionBarProps) {
  return (
    <WithActionTexts>
      <Bar {...props} />
    </WithActionTexts>
  );
}

function Bar({ channelId, selected, onClose }: SelectionBarProps) {
  const text = useText();
  const { api } = useSession();
  const [asks, setAsks] = useState(false);
  const count = selected.size;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !event.defaultPrevented && !asks) {
        onClose();
      }
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [asks, onClose]);
  const remove = () => {
    const ids = [...selected];
    const [only] = ids;
    // The API deletes two messages or more at once.
    return ids.length === 1 && only !== undefined
      ? deleteMessage(api, channelId, only)
      : bulkDeleteMessages(api, channelId, ids);
  };
  return (
    <div className="selection-bar" role="group" aria-label={text("message.select")}>
      <span className="selection-text">
        <strong role="status">{text("messageActions.select.count", { count })}</strong>
        <span className="field-hint">{text("messageActions.select.hint", { max: MAX_SELECTED })}</span>
      </span>
      <span className="selection-actions">
        <Button onPress={onClose}>
          <X size={16} aria-hidden="true" /> {text("common.cancel")}
        </Button>
        <Button kind="danger" isDisabled={count === 0} onPress={() => setAsks(true)}>
          <Trash2 size={16} aria-hidden="true" /> {text("common.delete")}
        </Button>
      </span>
      {asks && (
        <Confirm
          title={text("messageActions.select.delete", { count })}
          question={text("messageActions.select.question", { count })}
          confirm={text("common.delete")}
          onConfirm={remove}
          onClose={() => setAsks(false)}
          onDone={onClose}
        />
      )}
    </div>
  );
}
