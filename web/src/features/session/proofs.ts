import { useSyncExternalStore } from "react";

import type { ProofRequest } from "../../api/errors";

/** A request that waits for the user to prove who they are. */
export interface PendingProof {
  request: ProofRequest;
  /** Goes on with the proof, or without one. */
  answer: (proof: string | null) => void;
}

const listeners = new Set<() => void>();
let pending: PendingProof | null = null;

function setPending(next: PendingProof | null): void {
  pending = next;
  for (const listener of listeners) {
    listener();
  }
}

/** Ask the user for a proof, in a dialog; null if they close it. */
export function askForProof(request: ProofRequest): Promise<string | null> {
  pending?.answer(null);
  return new Promise((resolve) => {
    setPending({
      request,
      answer: (proof) => {
        setPending(null);
        resolve(proof);
      },
    });
  });
}

/** The request that waits, if there is one. */
export function usePendingProof(): PendingProof | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => pending,
  );
}
