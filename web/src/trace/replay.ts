import { setPage } from "../store/messages";
import { filterEntries, mapValues } from "../store/records";
import { reduce } from "../store/reducers";
import { INITIAL_STATE, type State } from "../store/state";
import type { Entry, Frame, View } from "./recording";

const SUBMITS_MODAL = 5;
/** A time that no reader of the page waits for, and that a timer can. */
const A_DAY = 86_400_000;

interface Change {
  after: number;
  apply: (state: State) => State;
}

/** What a person's client shows after each entry of the transcript. */
export class Replay {
  private readonly changes: readonly Change[];
  /** The state after each of the first changes. */
  private readonly states: State[] = [];

  constructor(
    private readonly view: View,
    entries: readonly Entry[],
  ) {
    const times = new Map(entries.map(({ number, at }) => [number, Date.parse(at)]));
    const frames = view.frames.map((frame) => ({
      after: frame.after,
      apply: (state: State) => this.receive(state, frame, times.get(frame.after) ?? 0),
    }));
    const submissions = entries
      .filter((entry) => submitsModal(entry, view.name))
      .map(({ number }) => ({ after: number, apply: (state: State) => ({ ...state, modal: null }) }));
    this.changes = [...frames, ...submissions].sort((a, b) => a.after - b.after);
  }

  /** The state once the entry with a number has happened. `now` is the time of the person who looks at it. */
  stateAt(entry: Entry, now: number): State {
    const count = this.changes.findLastIndex(({ after }) => after <= entry.number) + 1;
    while (this.states.length < count) {
      const last = this.states.at(-1) ?? INITIAL_STATE;
      this.states.push(this.changes[this.states.length]?.apply(last) ?? last);
    }
    const state = this.states[count - 1] ?? INITIAL_STATE;
    const time = Date.parse(entry.at);
    return {
      ...state,
      status: "connected",
      // Nothing is new to those who look back.
      readStates: Object.fromEntries(
        Object.entries(state.messages).map(([id, { messages }]) => [
          id,
          { lastMessageId: messages.at(-1)?.id ?? "0", mentions: 0 },
        ]),
      ),
      // Who types at that time does so for as long as it is looked at.
      typing: mapValues(state.typing, (ends) =>
        mapValues(
          filterEntries(ends, (end) => end > time),
          () => now + A_DAY,
        ),
      ),
    };
  }

  private receive(state: State, frame: Frame, time: number): State {
    const next = reduce(state, frame.name, frame.data, time);
    return next.channels === state.channels && next.messages === state.messages ? next : this.withPages(next);
  }

  /** Every channel has all its messages: nothing can be loaded any more. */
  private withPages(state: State): State {
    return Object.keys(state.channels)
      .filter((id) => state.messages[id] === undefined)
      .reduce(
        (before, id) =>
          setPage(before, id, this.view.messages[id] ?? [], { hasOlder: false, hasNewer: false }),
        state,
      );
  }
}

function submitsModal(entry: Entry, name: string): boolean {
  const sent = entry.sent as { type?: unknown } | undefined;
  return entry.actor === name && entry.path === "/interactions" && sent?.type === SUBMITS_MODAL;
}
