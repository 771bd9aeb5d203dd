import { useSyncExternalStore } from "react";

import { reduce } from "./reducers";
import { INITIAL_STATE, type State } from "./state";

/** Holds one account's state and notifies its subscribers of each change. */
export class Store {
  private current: State = INITIAL_STATE;
  private readonly listeners = new Set<() => void>();
  private readonly observers = new Set<(name: string, data: unknown) => void>();

  get state(): State {
    return this.current;
  }

  /** Apply a gateway dispatch. */
  dispatch(name: string, data: unknown): void {
    this.update((state) => reduce(state, name, data, Date.now()));
    for (const observer of this.observers) {
      observer(name, data);
    }
  }

  /** Call a function after each dispatch, until the returned one is called. */
  observe(observer: (name: string, data: unknown) => void): () => void {
    this.observers.add(observer);
    return () => this.observers.delete(observer);
  }

  update(change: (state: State) => State): void {
    const next = change(this.current);
    if (next !== this.current) {
      this.current = next;
      for (const listener of this.listeners) {
        listener();
      }
    }
  }

  /** Resolves once the state satisfies a predicate, at once if it does already. */
  waitFor(predicate: (state: State) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (predicate(this.current)) {
          this.listeners.delete(check);
          resolve();
        }
      };
      this.listeners.add(check);
      check();
    });
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
}

/** Read a part of the state; the component renders again when the selected value changes (by identity). */
export function useSelect<T>(store: Store, select: (state: State) => T): T {
  return useSyncExternalStore(store.subscribe, () => select(store.state));
}
