import { useEffect, useState } from "react";

import type { CommandChoice } from "../../api/commands";
import { requestAutocomplete } from "../../api/interactions";
import { addInteraction, endInteraction } from "../../store/interactions";
import { useAppState, useSession } from "../session/session";
import { buildAutocomplete, type CommandLeaf, type OptionInputs } from "./options";
import { commandData, sourceOf } from "./sending";

const DEBOUNCE_MS = 250;

export interface AutocompleteState {
  choices: readonly CommandChoice[];
  status: "loading" | "loaded" | "failed";
}

const NO_CHOICES: readonly CommandChoice[] = [];

/** Choices of the application for the text of an option, requested while `enabled`. */
export function useAutocomplete(
  channelId: string,
  leaf: CommandLeaf,
  inputs: OptionInputs,
  option: string,
  text: string,
  enabled: boolean,
): AutocompleteState {
  const session = useSession();
  const [requested, setRequested] = useState<string | null>(null);
  const [choices, setChoices] = useState(NO_CHOICES);
  const response = useAppState((state) => state.autocomplete);
  const failed = useAppState((state) => requested !== null && state.interactions[requested]?.failed === true);
  useEffect(() => {
    if (!enabled) {
      return undefined;
    }
    const source = sourceOf(session, channelId, leaf.application.id);
    const timer = setTimeout(() => {
      setRequested(source.nonce);
      session.store.update((state) => addInteraction(state, source.nonce, "autocomplete"));
      const options = buildAutocomplete(leaf, inputs, option, text);
      requestAutocomplete(session.api, source, { ...commandData(leaf.command), options }).catch(() =>
        session.store.dispatch("INTERACTION_FAILURE", { nonce: source.nonce }),
      );
    }, DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      session.store.update((state) => endInteraction(state, source));
    };
    // The other options are those of the moment of the request.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [session, channelId, leaf, option, text, enabled]);
  const answered = requested !== null && response?.nonce === requested;
  // Older choices stay until newer ones arrive.
  if (answered && choices !== response.choices) {
    setChoices(response.choices);
  }
  return { choices, status: failed ? "failed" : answered ? "loaded" : "loading" };
}
