import { describe, expect, it } from "vitest";

import type { OnboardingPrompt, ScreeningField } from "../../api/joining";
import { hasAllResponses, isUnanswered, toggleOption } from "./responses";

const field = (field_type: ScreeningField["field_type"], required = true): ScreeningField => ({
  field_type,
  label: "",
  description: null,
  required,
});
const prompt = (changes: Partial<OnboardingPrompt>) =>
  ({
    required: true,
    single_select: false,
    options: [{ id: "1" }, { id: "2" }],
    ...changes,
  }) as OnboardingPrompt;

describe("the responses to a screening form", () => {
  it("are complete once required fields have one and rules are agreed to", () => {
    const fields = [field("TERMS"), field("TEXT_INPUT"), field("MULTIPLE_CHOICE"), field("PARAGRAPH", false)];
    expect(hasAllResponses(fields, { 0: true, 1: "me", 2: 0 })).toBe(true);
    expect(hasAllResponses(fields, { 0: false, 1: "me", 2: 0 })).toBe(false);
    expect(hasAllResponses(fields, { 0: true, 1: "", 2: 0 })).toBe(false);
    expect(hasAllResponses(fields, { 0: true, 1: "me" })).toBe(false);
  });
});

describe("the options of a prompt", () => {
  it("are chosen and taken back", () => {
    expect(toggleOption(["1"], prompt({}), "2")).toEqual(["1", "2"]);
    expect(toggleOption(["1", "2"], prompt({}), "1")).toEqual(["2"]);
  });

  it("exclude each other where one choice is allowed, but not those of other prompts", () => {
    expect(toggleOption(["1", "9"], prompt({ single_select: true }), "2")).toEqual(["9", "2"]);
  });

  it("answer a required prompt", () => {
    expect(isUnanswered(prompt({}), ["9"])).toBe(true);
    expect(isUnanswered(prompt({}), ["2"])).toBe(false);
    expect(isUnanswered(prompt({ required: false }), [])).toBe(false);
  });
});
