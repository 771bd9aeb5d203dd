import type { APIChannel } from "discord-api-types/v10";
import { Plus, SmilePlus, X } from "lucide-react";
import { useRef, useState } from "react";

import { createMessage } from "../../api/messages";
import { makeNonce } from "../../api/nonce";
import { useText } from "../../i18n/translate";
import { addMessage } from "../../store/messages";
import { Button, IconButton } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/TextField";
import { Switch } from "../../ui/fields";
import { Select } from "../../ui/Select";
import { WithActionTexts } from "../../i18n/WithActionTexts";
import { useDuration } from "../channels/durations";
import { ActionForm } from "../session/ActionForm";
import { useSession } from "../session/session";
import { fieldError, useAction } from "../session/useAction";
import { EmojiButton } from "../emojis/EmojiButton";
import { EmojiMark } from "../emojis/EmojiMark";
import {
  isWholePoll,
  MAX_ANSWER,
  MAX_ANSWERS,
  MAX_QUESTION,
  POLL_HOURS,
  pollBody,
  type AnswerDraft,
} from "./polls";
import "./polls.css";

interface PollFormProps {
  channel: APIChannel;
  onClose: () => void;
}

/** Asks a question in a channel, with answers to vote for. */
export default function PollForm(props: PollFormProps) {
  return (
    <WithActionTexts>
      <Form {...props} />
    </WithActionTexts>
  );
}

const EMPTY = { text: "", emoji: null };

function Form({ channel, onClose }: PollFormProps) {
  const text = useText();
  const duration = useDuration();
  const { api, store } = useSession();
  const action = useAction();
  // A repeated request sends the poll once.
  const [nonce] = useState(makeNonce);
  const [question, setQuestion] = useState("");
  const nextKey = useRef(2);
  const [answers, setAnswers] = useState<readonly (AnswerDraft & { key: number })[]>([
    { key: 0, ...EMPTY },
    { key: 1, ...EMPTY },
  ]);
  const [hours, setHours] = useState(24);
  const [allowsMany, setAllowsMany] = useState(false);
  const draft = { question, answers, hours, allowsMany };
  const change = (key: number, changes: Partial<AnswerDraft>) =>
    setAnswers(answers.map((answer) => (answer.key === key ? { ...answer, ...changes } : answer)));
  const send = async () => {
    const body = { poll: pollBody(draft), nonce, enforce_nonce: true };
    const message = await createMessage(api, channel.id, body);
    store.update((state) => addMessage(state, message));
    onClose();
  };
  // The answers are numbered as they are sent: without the empty ones.
  const sent = answers.filter(({ text: answer }) => answer.trim() !== "");
  const answerError = (key: number) => {
    const index = sent.findIndex((answer) => answer.key === key);
    return index < 0 ? undefined : fieldError(action.error, `poll.answers.${index}.poll_media.text`);
  };
  return (
    <Dialog title={text("messageActions.poll.create")} onClose={onClose}>
      <ActionForm
        action={action}
        shown={["poll.question", "poll.answers"]}
        onSubmit={() => void action.run(send)}
        confirm={text("messageActions.poll.submit")}
        onCancel={onClose}
        isDisabled={!isWholePoll(draft)}
      >
        <TextField
          label={text("messageActions.poll.question")}
          value={question}
          onChange={setQuestion}
          maxLength={MAX_QUESTION}
          isRequired
          autoFocus
          error={fieldError(action.error, "poll.question.text")}
        />
        <fieldset className="poll-answers">
          <legend>{text("messageActions.poll.answers")}</legend>
          {answers.map((answer, index) => (
            <div key={answer.key} className="poll-draft">
              <EmojiButton
                label={text("messageActions.poll.emoji", { number: index + 1 })}
                icon={
                  answer.emoji === null ? (
                    <SmilePlus size={18} />
                  ) : (
                    <EmojiMark emoji={answer.emoji} size={20} />
                  )
                }
                channel={channel}
                onSelect={({ id, name }) => change(answer.key, { emoji: { id, name } })}
              />
              <TextField
                label={text("messageActions.poll.answer", { number: index + 1 })}
                value={answer.text}
                onChange={(value) => change(answer.key, { text: value })}
                maxLength={MAX_ANSWER}
                error={answerError(answer.key)}
              />
              <IconButton
                label={text("messageActions.poll.remove", { number: index + 1 })}
                isDisabled={answers.length === 1}
                onPress={() => setAnswers(answers.filter(({ key }) => key !== answer.key))}
              >
                <X size={18} />
              </IconButton>
            </div>
          ))}
          {answers.length < MAX_ANSWERS && (
            <Button
              kind="quiet"
              onPress={() => {
                setAnswers([...answers, { key: nextKey.current, ...EMPTY }]);
                nextKey.current += 1;
              }}
            >
              <Plus size={16} aria-hidden="true" /> {text("messageActions.poll.add")}
            </Button>
          )}
        </fieldset>
        <Select
          label={text("messageActions.poll.duration")}
          value={String(hours)}
          options={POLL_HOURS.map((each) => [String(each), duration(each * 3600)] as const)}
          onChange={(value) => setHours(Number(value))}
        />
        <Switch
          label={text("messageActions.poll.allowsMany")}
          isSelected={allowsMany}
          onChange={setAllowsMany}
        />
      </ActionForm>
    </Dialog>
  );
}
