/** The bounds of the API. */
export const MAX_QUESTION = 300;
export const MAX_ANSWER = 55;
export const MAX_ANSWERS = 10;

/** For how many hours a poll can be open. */
export const POLL_HOURS = [1, 4, 8, 24, 72, 168, 336, 768] as const;

/** The ids of the answers with the most votes; none without a vote. */
export function leadingAnswers(counts: readonly { id: number; count: number }[]): number[] {
  const most = Math.max(0, ...counts.map(({ count }) => count));
  return most === 0 ? [] : counts.filter(({ count }) => count === most).map(({ id }) => id);
}

export interface AnswerDraft {
  text: string;
  emoji: { id: string | null; name: string } | null;
}

export interface PollDraft {
  question: string;
  answers: readonly AnswerDraft[];
  hours: number;
  allowsMany: boolean;
}

/** Whether a poll can be sent: it has a question, and an answer. */
export function isWholePoll({ question, answers }: PollDraft): boolean {
  return question.trim() !== "" && answers.some(({ text }) => text.trim() !== "");
}

/** A poll as the API takes it, without the answers that are empty. */
export function pollBody({ question, answers, hours, allowsMany }: PollDraft) {
  return {
    question: { text: question.trim() },
    answers: answers
      .filter(({ text }) => text.trim() !== "")
      .map(({ text, emoji }) => ({
        poll_media: {
          text: text.trim(),
          ...(emoji !== null && { emoji }),
        },
      })),
    duration: hours,
    allow_multiselect: allowsMany,
  };
}
