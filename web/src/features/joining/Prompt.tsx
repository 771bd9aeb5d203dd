import { ToggleButton } from "react-aria-components";

import { emojiUrl } from "../../api/images";
import type { OnboardingPrompt } from "../../api/joining";
import { useText } from "../../i18n/translate";
import { toggleOption } from "./responses";

interface PromptProps {
  prompt: OnboardingPrompt;
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}

/** A question of onboarding with its options. */
export function Prompt({ prompt, chosen, onChange }: PromptProps) {
  const text = useText();
  return (
    <fieldset className="prompt">
      <legend>
        {prompt.title}{" "}
        <span className="field-hint">
          {prompt.required && text("joining.required")}{" "}
          {text(prompt.single_select ? "joining.one" : "joining.many")}
        </span>
      </legend>
      {prompt.options.map((option) => (
        <ToggleButton
          key={option.id}
          className="prompt-option"
          isSelected={chosen.includes(option.id)}
          onChange={() => onChange(toggleOption(chosen, prompt, option.id))}
        >
          <OptionEmoji emoji={option.emoji} />
          <span>
            <strong>{option.title}</strong>
            {option.description !== "" && <span className="field-hint">{option.description}</span>}
          </span>
        </ToggleButton>
      ))}
    </fieldset>
  );
}

/** The emoji of an option or of a welcome channel; nothing for none. */
export function OptionEmoji({ emoji }: { emoji: { id: string | null; name: string | null } }) {
  if (emoji.id === null && emoji.name === null) {
    return null;
  }
  return (
    <span className="welcome-emoji" aria-hidden="true">
      {emoji.id === null ? emoji.name : <img src={emojiUrl(emoji.id, 28)} alt="" />}
    </span>
  );
}
