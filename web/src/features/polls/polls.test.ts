import { describe, expect, it } from "vitest";

import { isWholePoll, leadingAnswers, pollBody } from "./polls";

const ANSWER = { text: " Tea ", emoji: null };

describe("leadingAnswers", () => {
  it("are those with the most votes, and none without a vote", () => {
    expect(
      leadingAnswers([
        { id: 1, count: 2 },
        { id: 2, count: 3 },
        { id: 3, count: 3 },
      ]),
    ).toEqual([2, 3]);
    expect(leadingAnswers([{ id: 1, count: 0 }])).toEqual([]);
    expect(leadingAnswers([])).toEqual([]);
  });
});

describe("a poll that is written", () => {
  const draft = { question: " Drink? ", answers: [ANSWER], hours: 24, allowsMany: false };

  it("is whole with a question and an answer", () => {
    expect(isWholePoll(draft)).toBe(true);
    expect(isWholePoll({ ...draft, question: "  " })).toBe(false);
    expect(isWholePoll({ ...draft, answers: [{ text: " ", emoji: null }] })).toBe(false);
  });

  it("is sent without empty answers", () => {
    const answers = [
      ANSWER,
      { text: "", emoji: { id: null, name: "🍵" } },
      { text: "Own", emoji: { id: "5", name: "cup" } },
      { text: "Standard", emoji: { id: null, name: "🍵" } },
    ];
    expect(pollBody({ ...draft, answers, allowsMany: true })).toEqual({
      question: { text: "Drink?" },
      answers: [
        { poll_media: { text: "Tea" } },
        { poll_media: { text: "Own", emoji: { id: "5", name: "cup" } } },
        { poll_media: { text: "Standard", emoji: { id: null, name: "🍵" } } },
      ],
      duration: 24,
      allow_multiselect: true,
    });
  });
});
