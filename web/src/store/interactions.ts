import { withEntry, withoutEntry } from "./records";
import type { State } from "./state";

/** A command that is being used. */
export interface UsedCommand {
  channelId: string;
  /** With its subcommand, without the slash. */
  name: string;
  applicationName: string;
}

/** An interaction of the user that the application has not answered. */
export interface PendingInteraction {
  /** The component that was used, as `{message id} {custom id}`; empty for commands. */
  target: string;
  command: UsedCommand | null;
  failed: boolean;
  /** Why the server refused it; null if the application did not respond. */
  reason: string | null;
}

/** A modal that an application asks the user to fill in. */
export interface Modal {
  id: string;
  channel_id: string;
  application: { id: string; name: string };
  custom_id: string;
  title: string;
  components: readonly unknown[];
}

/** Choices for the option of a command that the user is filling in. */
export interface AutocompleteChoices {
  nonce: string | null;
  choices: readonly { name: string; name_localized?: string | null; value: string | number }[];
}

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
