import type { APIChannel, APIMessage } from "discord-api-types/v10";
import { useEffect, useId } from "react";
import { TextArea } from "react-aria-components";

import { editMessage } from "../../api/messages";
import { useText } from "../../i18n/translate";
import { loaded } from "../../ui/loaded";
import { useAppState, useSession } from "../session/session";
import { useAction, useErrorText } from "../session/useAction";
import { useMessageText } from "../composer/useMessageText";

const CompletionList = loaded(async () => ({
  default: (await import("../composer/CompletionList")).CompletionList,
}));

interface MessageEditorProps {
  message: APIMessage;
  onClose: () => void;
}

/** Edits a message in its place. */
export function MessageEditor(props: MessageEditorProps) {
  const channel = useAppState((state) => state.channels[props.message.channel_id]);
  return channel && <Editor {...props} channel={channel} />;
}

function Editor({ message, channel, onClose }: MessageEditorProps & { channel: APIChannel }) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const errorText = useErrorText();
  const hintId = useId();
  const editor = useMessageText(channel, message.content, () => undefined);
  const { area, completion, listId, markup } = editor;
  useEffect(() => {
    const element = area.current;
    element?.focus();
    element?.setSelectionRange(element.value.length, element.value.length);
  }, [area]);
  const save = async () => {
    const content = markup.trim();
    const edit = () => editMessage(api, message.channel_id, message.id, { content });
    if (content === message.content || (await action.run(edit))) {
      onClose();
    }
  };
  const hasList = completion.completions.length > 0;
  return (
    <div className="editor">
      {hasList && <CompletionList id={listId} state={completion} onChoose={editor.complete} />}
      <TextArea
        dir="auto"
        ref={area}
        className="composer-input"
        aria-label={text("message.edit.label")}
        aria-describedby={hintId}
        aria-autocomplete="list"
        aria-controls={hasList ? listId : undefined}
        aria-activedescendant={hasList ? `${listId}-${completion.active}` : undefined}
        value={editor.text}
        rows={Math.min(10, editor.text.split("\n").length)}
        onChange={(event) => editor.change(event.target.value, event.target.selectionStart)}
        onSelect={editor.onSelect}
        onKeyDown={(event) => {
          if (editor.onKeyDown(event, () => undefined)) {
            return;
          }
          if (event.key === "Escape") {
            event.preventDefault();
            onClose();
          } else if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault();
            void save();
          }
        }}
      />
      <p id={hintId} className="field-hint">
        {text("message.edit.hint")}
      </p>
      {action.error !== null && (
        <p role="alert" className="field-error">
          {errorText(action.error)}
        </p>
      )}
    </div>
  );
}
