import type { APIChannel } from "discord-api-types/v10";
import {
  useCallback,
  useId,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type RefObject,
} from "react";

import { guildIdOf } from "../../store/channels";
import { channelName } from "../../store/selectors";
import type { State } from "../../store/state";
import { getKeybinds } from "../keybinds/keybinds";
import { writingShortcutOf } from "../keybinds/shortcuts";
import { useSession } from "../session/session";
import { expandShortNames, usableEmojis } from "../completion/completion";
import { expandTypedNames } from "../completion/typed";
import { addReference, fromMarkup, toMarkup, type Naming, type Reference } from "../completion/references";
import { MARKS, toggleMark, type Replacement } from "./formatting";
import { useCompletion, type CompletionState } from "./useCompletion";

const MAX_HEIGHT_SHARE = 0.4;

export interface MessageText {
  area: RefObject<HTMLTextAreaElement | null>;
  /** With mentions and custom emojis by name, as it is shown. */
  text: string;
  /** As it is sent. */
  markup: string;
  completion: CompletionState;
  /** The id of the list of completions. */
  listId: string;
  change: (text: string, caret: number) => void;
  /** Insert a text, or a reference, where the caret is. */
  insert: (text: string, reference?: Reference | null) => void;
  /** Put a completion in place of what was typed. */
  complete: (index: number) => void;
  /** Handle the keys of the list and the formatting shortcuts; returns whether the key was one of them. */
  onKeyDown: (event: KeyboardEvent<HTMLTextAreaElement>, onCommand: (index: number) => void) => boolean;
  onSelect: () => void;
}

/** A text area for the text of messages: completion, formatting, and mentions by name. */
export function useMessageText(
  channel: APIChannel,
  initial: string,
  onChange: (markup: string) => void,
  withCommands = false,
): MessageText {
  const { store, account } = useSession();
  const area = useRef<HTMLTextAreaElement>(null);
  const listId = useId();
  const [start] = useState(() => fromMarkup(initial, namingOf(store.state, channel)));
  const [text, setText] = useState(start.text);
  const [caret, setCaret] = useState(start.text.length);
  const [references, setReferences] = useState(start.references);
  const completion = useCompletion(channel, text, caret, withCommands);
  const toSent = (value: string, known: readonly Reference[]) => {
    const custom = usableEmojis(store.state, channel);
    const named = expandTypedNames(toMarkup(value, known), store.state, channel);
    return expandShortNames(named, completion.standard, custom);
  };

  useLayoutEffect(() => {
    const element = area.current;
    if (element !== null) {
      fitHeight(element);
    }
  }, [text]);

  // A replacement fires an input event at once: it must know the reference that is being added.
  const pending = useRef<readonly Reference[] | null>(null);
  const change = (value: string, position: number) => {
    const known = pending.current ?? references;
    setText(value);
    setCaret(position);
    if (known !== references) {
      setReferences(known);
    }
    onChange(toSent(value, known));
  };
  const replace = (replacement: Replacement, known: readonly Reference[] = references) => {
    const element = area.current;
    if (element !== null) {
      pending.current = known;
      replaceText(element, replacement);
      pending.current = null;
      setCaret(replacement.end);
    }
  };
  const put = (from: number, to: number, added: string, reference: Reference | null, after: string) => {
    const result = reference === null ? { references, text: added } : addReference(references, reference);
    const insert = result.text + after;
    const end = from + insert.length;
    replace({ from, to, insert, start: end, end }, result.references);
  };
  const insert = (added: string, reference: Reference | null = null) => {
    const element = area.current;
    const from = element?.selectionStart ?? text.length;
    put(from, element?.selectionEnd ?? from, added, reference, "");
  };
  const complete = (index: number) => {
    const { trigger, completions } = completion;
    const chosen = completions[index];
    if (trigger !== null && chosen !== undefined) {
      put(trigger.start, caret, chosen.text, chosen.reference, " ");
    }
  };
  const onKeyDown = (
    event: KeyboardEvent<HTMLTextAreaElement>,
    onCommand: (index: number) => void,
  ): boolean => {
    const choose = (index: number) =>
      completion.trigger?.kind === "command" ? onCommand(index) : complete(index);
    if (completion.onKeyDown(event, choose)) {
      event.preventDefault();
      event.stopPropagation();
      return true;
    }
    const shortcut = writingShortcutOf(event, getKeybinds(account.userId));
    const mark = shortcut === null ? undefined : MARKS[shortcut];
    if (mark === undefined) {
      return false;
    }
    event.preventDefault();
    const { selectionStart, selectionEnd, value } = event.currentTarget;
    replace(toggleMark({ text: value, start: selectionStart, end: selectionEnd }, mark));
    return true;
  };
  const onSelect = useCallback(() => {
    const element = area.current;
    if (element !== null && element.selectionStart === element.selectionEnd) {
      setCaret(element.selectionStart);
    }
  }, []);
  return {
    area,
    text,
    markup: toSent(text, references),
    completion,
    listId,
    change,
    insert,
    complete,
    onKeyDown,
    onSelect,
  };
}

/** Give a text area the height of its text. What is around it keeps its size meanwhile, so that no list scrolls. */
function fitHeight(element: HTMLTextAreaElement): void {
  const frame = element.parentElement;
  if (frame !== null) {
    frame.style.minHeight = `${frame.offsetHeight}px`;
  }
  element.style.height = "auto";
  const height = Math.min(element.scrollHeight, innerHeight * MAX_HEIGHT_SHARE);
  element.style.height = `${height}px`;
  if (frame !== null) {
    frame.style.minHeight = "";
  }
}

/** Replace a part of a text area so that undoing brings it back. */
function replaceText(element: HTMLTextAreaElement, { from, to, insert, start, end }: Replacement): void {
  element.focus();
  element.setSelectionRange(from, to);
  const done =
    insert === ""
      ? from === to || document.execCommand("delete")
      : document.execCommand("insertText", false, insert);
  if (!done) {
    element.setRangeText(insert, from, to, "end");
    element.dispatchEvent(new Event("input", { bubbles: true }));
  }
  element.setSelectionRange(start, end);
}

/** Names of what a message in a channel mentions. */
function namingOf(state: State, channel: APIChannel): Naming {
  const guildId = guildIdOf(channel);
  return (kind, id) => {
    switch (kind) {
      case "user":
        return (
          state.users[id]?.username ??
          (guildId === null ? null : (state.members[guildId]?.[id]?.user.username ?? null))
        );
      case "role":
        return guildId === null ? null : (state.guilds[guildId]?.roles[id]?.name ?? null);
      case "channel": {
        const mentioned = state.channels[id];
        return mentioned === undefined ? null : channelName(state, mentioned);
      }
    }
  };
}
