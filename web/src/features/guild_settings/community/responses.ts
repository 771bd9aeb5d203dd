import type { ScreeningField } from "../../../api/guild_settings";

/** The answer to a field of the screening form: a text, the chosen one of the choices, or that the rules are agreed to. */
export function responseText(
  field: ScreeningField & { response?: unknown },
  words: { yes: string; none: string },
): string {
  const { response } = field;
  if (typeof response === "number") {
    return field.choices?.[response] ?? words.none;
  }
  if (response === true) {
    return words.yes;
  }
  return typeof response === "string" && response !== "" ? response : words.none;
}
