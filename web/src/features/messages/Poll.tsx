import type { APIMessage, APIPoll } from "discord-api-types/v10";
import { ToggleButton } from "react-aria-components";

import { vote } from "../../api/messages";
import { useText } from "../../i18n/translate";
import { useSession } from "../session/session";
import { useAction, useErrorText } from "../session/useAction";

export function Poll({ message, poll }: { message: APIMessage; poll: APIPoll }) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const errorText = useErrorText();
  const counts = poll.results?.answer_counts ?? [];
  const total = counts.reduce((sum, count) => sum + count.count, 0);
  const votedIds = counts.filter((count) => count.me_voted).map((count) => count.id);
  const ended = poll.results?.is_finalized === true;
  const toggle = (answerId: number, selected: boolean) => {
    const others = poll.allow_multiselect ? votedIds.filter((id) => id !== answerId) : [];
    const answerIds = selected ? [...others, answerId] : others;
    void action.run(() => vote(api, message.channel_id, message.id, answerIds));
  };
  return (
    <div className="poll" role="group" aria-label={poll.question.text}>
      <p className="poll-question">{poll.question.text}</p>
      {poll.answers.map((answer) => {
        const count = counts.find((each) => each.id === answer.answer_id)?.count ?? 0;
        const share = total === 0 ? 0 : Math.round((100 * count) / total);
        return (
          <ToggleButton
            key={answer.answer_id}
            className="poll-answer"
            isSelected={votedIds.includes(answer.answer_id)}
            isDisabled={ended || action.pending}
            aria-label={text("message.poll.vote", { answer: answer.poll_media.text ?? "" })}
            onChange={(selected) => toggle(answer.answer_id, selected)}
          >
            <span className="poll-bar" style={{ width: `${share}%` }} />
            <span className="poll-text">
              {answer.poll_media.emoji?.name} {answer.poll_media.text}
            </span>
            <span className="poll-count">
              {count} ({share} %)
            </span>
          </ToggleButton>
        );
      })}
      <p className="message-edited">
        {text("message.poll.open", { count: total })} {ended && text("message.poll.closed")}
      </p>
      {action.error !== null && (
        <p role="alert" className="field-error">
          {errorText(action.error)}
        </p>
      )}
    </div>
  );
}
