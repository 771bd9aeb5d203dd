import type { APIMessage, APIPoll } from "discord-api-types/v10";
import { Check } from "lucide-react";
import { useState } from "react";
import { Button as AriaButton } from "react-aria-components";
import { useIntl } from "react-intl";

import { endPoll, vote } from "../../api/messages";
import { useText } from "../../i18n/translate";
import { Toggle } from "../../ui/Toggle";
import { WithActionTexts } from "../../i18n/WithActionTexts";
import { loaded } from "../../ui/loaded";
import { Confirm } from "../session/Confirm";
import { useAppState, useSession } from "../session/session";
import { useAction, useErrorText } from "../session/useAction";
import { EmojiMark } from "../emojis/EmojiMark";
import { leadingAnswers } from "./polls";
import "./polls.css";

const PollVoters = loaded(() => import("./PollVoters"));

interface PollProps {
  message: APIMessage;
  poll: APIPoll;
  guildId: string | null;
}

/** A question with answers to vote for, and how many have voted for each. */
export default function Poll(props: PollProps) {
  return (
    <WithActionTexts fallback={<div className="poll poll-loading" />}>
      <OpenPoll {...props} />
    </WithActionTexts>
  );
}

function OpenPoll({ message, poll, guildId }: PollProps) {
  const text = useText();
  const { formatDate } = useIntl();
  const { api } = useSession();
  const action = useAction();
  const errorText = useErrorText();
  const [open, setOpen] = useState<"voters" | "end" | null>(null);
  const isOwn = useAppState((state) => state.user?.id === message.author.id);
  const counts = poll.results?.answer_counts ?? [];
  const total = counts.reduce((sum, count) => sum + count.count, 0);
  const votedIds = counts.filter((count) => count.me_voted).map((count) => count.id);
  const ended = poll.results?.is_finalized === true;
  const leading = ended ? leadingAnswers(counts) : [];
  const toggle = (answerId: number, selected: boolean) => {
    const others = poll.allow_multiselect ? votedIds.filter((id) => id !== answerId) : [];
    const answerIds = selected ? [...others, answerId] : others;
    void action.run(() => vote(api, message.channel_id, message.id, answerIds));
  };
  return (
    <div className="poll" role="group" aria-label={poll.question.text}>
      <p className="poll-question" dir="auto">
        {poll.question.text}
      </p>
      {!ended && (
        <p className="field-hint">
          {text(poll.allow_multiselect ? "messageActions.poll.many" : "messageActions.poll.one")}
        </p>
      )}
      {poll.answers.map(({ answer_id: id, poll_media: media }) => {
        const count = counts.find((each) => each.id === id)?.count ?? 0;
        const share = total === 0 ? 0 : Math.round((100 * count) / total);
        return (
          <Toggle
            key={id}
            className={leading.includes(id) ? "poll-answer poll-answer-leading" : "poll-answer"}
            isSelected={votedIds.includes(id)}
            isDisabled={ended || action.pending}
            onChange={(selected) => toggle(id, selected)}
          >
            <span className="poll-bar" style={{ width: `${share}%` }} />
            <span className="poll-text">
              {media.emoji && <EmojiMark emoji={media.emoji} size={20} />}
              <bdi>{media.text}</bdi>
            </span>
            <span className="poll-count">
              {votedIds.includes(id) && <Check size={16} aria-hidden="true" />}
              {text("messageActions.poll.count", { count, share })}
            </span>
          </Toggle>
        );
      })}
      <div className="poll-footer">
        <AriaButton className="link-button" isDisabled={total === 0} onPress={() => setOpen("voters")}>
          {text("messageActions.poll.votes", { count: total })}
        </AriaButton>
        <span>
          {ended
            ? text("messageActions.poll.closed")
            : poll.expiry
              ? text("messageActions.poll.until", {
                  date: formatDate(poll.expiry, { dateStyle: "medium", timeStyle: "short" }),
                })
              : ""}
        </span>
        {isOwn && !ended && (
          <AriaButton className="link-button" onPress={() => setOpen("end")}>
            {text("messageActions.poll.end")}
          </AriaButton>
        )}
      </div>
      {action.error !== null && (
        <p role="alert" className="field-error">
          {errorText(action.error)}
        </p>
      )}
      {open === "voters" && (
        <PollVoters message={message} poll={poll} guildId={guildId} onClose={() => setOpen(null)} />
      )}
      {open === "end" && (
        <Confirm
          title={text("messageActions.poll.end")}
          question={text("messageActions.poll.end.question")}
          confirm={text("messageActions.poll.end")}
          onConfirm={() => endPoll(api, message.channel_id, message.id)}
          onClose={() => setOpen(null)}
        />
      )}
    </div>
  );
}
