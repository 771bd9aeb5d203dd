import type { APIGuildOnboarding, RESTPutAPIGuildOnboardingJSONBody } from "discord-api-types/v10";

import type { ChosenEmoji } from "./EmojiField";

/** An answer, as the form edits it. The id of a new one is empty. */
export interface Option {
  id: string;
  title: string;
  description: string;
  emoji: ChosenEmoji;
  role_ids: readonly string[];
  channel_ids: readonly string[];
}

/** A question, as the form edits it. The id of a new one is empty. */
export interface Prompt {
  id: string;
  title: string;
  type: number;
  single_select: boolean;
  required: boolean;
  in_onboarding: boolean;
  options: readonly Option[];
}

export function newOption(): Option {
  return {
    id: "",
    title: "",
    description: "",
    emoji: { id: null, name: null },
    role_ids: [],
    channel_ids: [],
  };
}

export function newPrompt(): Prompt {
  return {
    id: "",
    title: "",
    type: 0,
    single_select: false,
    required: false,
    in_onboarding: true,
    options: [newOption()],
  };
}

export function promptsOf(onboarding: APIGuildOnboarding): Prompt[] {
  return onboarding.prompts.map((prompt) => ({
    id: prompt.id,
    title: prompt.title,
    type: prompt.type,
    single_select: prompt.single_select,
    required: prompt.required,
    in_onboarding: prompt.in_onboarding,
    options: prompt.options.map((option) => ({
      id: option.id,
      title: option.title,
      description: option.description ?? "",
      emoji: { id: option.emoji.id ?? null, name: option.emoji.name ?? null },
      role_ids: option.role_ids,
      channel_ids: option.channel_ids,
    })),
  }));
}

/** The questions of a request. Those without an id, and answers without one, are created. */
export function toPromptBodies(
  prompts: readonly Prompt[],
): NonNullable<RESTPutAPIGuildOnboardingJSONBody["prompts"]> {
  const bodies = prompts.map(({ id, options, ...prompt }) => ({
    ...prompt,
    ...(id !== "" && { id }),
    options: options.map(({ id: optionId, emoji, ...option }) => ({
      ...option,
      ...(optionId !== "" && { id: optionId }),
      emoji_id: emoji.id,
      emoji_name: emoji.name,
    })),
  }));
  return bodies as unknown as NonNullable<RESTPutAPIGuildOnboardingJSONBody["prompts"]>;
}
