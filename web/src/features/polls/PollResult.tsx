import type { APIMessage } from "discord-api-types/v10";
import { BarChart3 } from "lucide-react";
import { Button as AriaButton } from "react-aria-components";

import { Translate, useText } from "../../i18n/translate";
import { WithActionTexts } from "../../i18n/WithActionTexts";
import { fieldsOf } from "../content/embedFields";
import { EmojiMark } from "../emojis/EmojiMark";
import "./polls.css";

interface PollResultProps {
  message: APIMessage;
  onJump: (messageId: string) => void;
}

/** Says that a poll has ended and which answer has won. */
export default function PollResult(props: PollResultProps) {
  return (
    <WithActionTexts>
      <Result {...props} />
    </WithActionTexts>
  );
}

function Result({ message, onJump }: PollResultProps) {
  const text = useText();
  const fields = fieldsOf(message.embeds[0]);
  const pollId = message.message_reference?.message_id;
  const votes = Number(fields["total_votes"] ?? 0);
  const won = Number(fields["victor_answer_votes"] ?? 0);
  const winner = fields["victor_answer_text"];
  const emoji = {
    id: fields["victor_answer_emoji_id"] ?? null,
    name: fields["victor_answer_emoji_name"] ?? null,
  };
  return (
    <div className="poll">
      <p className="message-system">
        <BarChart3 size={16} aria-hidden="true" />{" "}
        <Translate
          id="messageActions.poll.result"
          values={{ question: <strong key="question">{fields["poll_question_text"]}</strong> }}
        />
      </p>
      {votes === 0 ? (
        <p>{text("messageActions.poll.result.none")}</p>
      ) : winner === undefined ? (
        <p>{text("messageActions.poll.result.draw")}</p>
      ) : (
        <p className="poll-winner">
          {emoji.name !== null && <EmojiMark emoji={emoji} size={20} />}
          <strong>{winner}</strong>
          <span>{text("messageActions.poll.result.share", { share: Math.round((100 * won) / votes) })}</span>
        </p>
      )}
      {pollId !== undefined && (
        <AriaButton className="link-button" onPress={() => onJump(pollId)}>
          {text("messageActions.poll.show")}
        </AriaButton>
      )}
    </div>
  );
}
