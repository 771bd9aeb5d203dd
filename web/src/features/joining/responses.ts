import type { OnboardingPrompt, ScreeningField } from "../../api/joining";

/** Agreement to rules, a text, the number of a choice; null for none. */
export type ScreeningResponse = boolean | string | number | null;

/** Whether every required field has a response; rules must be agreed to. */
export function hasAllResponses(
  fields: readonly ScreeningField[],
  responses: Readonly<Record<number, ScreeningResponse>>,
): boolean {
  return fields.every((field, index) => {
    const response = responses[index] ?? null;
    if (!field.required) {
      return true;
    }
    return field.field_type === "TERMS" ? response === true : response !== null && response !== "";
  });
}

/** The chosen options after one of a prompt was pressed: a prompt of one choice drops the others. */
export function toggleOption(
  chosen: readonly string[],
  prompt: OnboardingPrompt,
  optionId: string,
): string[] {
  if (chosen.includes(optionId)) {
    return chosen.filter((id) => id !== optionId);
  }
  const others = prompt.single_select
    ? chosen.filter((id) => !prompt.options.some((option) => option.id === id))
    : chosen;
  return [...others, optionId];
}

/** Whether a required prompt has no chosen option. */
export function isUnanswered(prompt: OnboardingPrompt, chosen: readonly string[]): boolean {
  return prompt.required && !prompt.options.some((option) => chosen.includes(option.id));
}
