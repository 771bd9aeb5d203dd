import { withEntry, withoutEntry } from "./records";
import type { State } from "./state";
import type { AutocompleteChoices, Modal, UsedCommand } from "./entities";

export function addInteraction(
  state: State,
  nonce: string,
  target: string,
  command: UsedCommand | null = null,
): State {
  const interaction = { target, command, failed: false, reason: null };
  return { ...state, interactions: withEntry(state.interactions, nonce, interaction) };
}

export function endInteraction(state: State, data: { nonce: string | null }): State {
  return { ...state, interactions: withoutEntry(state.interactions, data.nonce ?? "") };
}

export function failInteraction(state: State, data: { nonce: string | null; reason?: string }): State {
  const interaction = state.interactions[data.nonce ?? ""];
  return interaction === undefined
    ? state
    : {
        ...state,
        interactions: withEntry(state.interactions, data.nonce ?? "", {
          ...interaction,
          failed: true,
          reason: data.reason ?? null,
        }),
      };
}

export function openModal(state: State, modal: Modal & { nonce?: string | null }): State {
  return { ...endInteraction(state, { nonce: modal.nonce ?? null }), modal };
}

export function setChoices(state: State, autocomplete: AutocompleteChoices): State {
  return { ...state, autocomplete };
}
