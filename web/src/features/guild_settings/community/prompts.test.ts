import type { APIGuildOnboarding } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import { newOption, newPrompt, promptsOf, toPromptBodies } from "./prompts";
import { responseText } from "./responses";

describe("onboarding questions", () => {
  it("keep their ids, and new ones are sent without any", () => {
    const saved = {
      prompts: [{ ...newPrompt(), id: "1", options: [{ ...newOption(), id: "2", emoji: { id: "3" } }] }],
    } as unknown as APIGuildOnboarding;
    const [first, second] = toPromptBodies([...promptsOf(saved), newPrompt()]);
    expect(first).toMatchObject({ id: "1", options: [{ id: "2", emoji_id: "3", emoji_name: null }] });
    expect(second).not.toHaveProperty("id");
    expect(second?.options[0]).not.toHaveProperty("id");
  });
});

describe("the answer to a screening question", () => {
  const words = { yes: "yes", none: "nothing" };
  const field = { label: "Why?", required: true } as const;

  it("is the choice, not its number", () => {
    const choice = { ...field, field_type: "MULTIPLE_CHOICE", choices: ["a", "b"], response: 1 } as const;
    expect(responseText({ ...choice, choices: [...choice.choices] }, words)).toBe("b");
  });

  it("is the text, or that there is none", () => {
    expect(responseText({ ...field, field_type: "TEXT_INPUT", response: "Because" }, words)).toBe("Because");
    expect(responseText({ ...field, field_type: "TEXT_INPUT", response: null }, words)).toBe("nothing");
    expect(responseText({ ...field, field_type: "TERMS", response: true }, words)).toBe("yes");
  });
});
