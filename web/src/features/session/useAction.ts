import { useState } from "react";

import { ApiError, NetworkError } from "../../api/errors";
import { useText } from "../../i18n/translate";

/** The text that tells a user why a request failed. */
export function useErrorText(): (error: unknown) => string {
  const text = useText();
  return (error) => {
    if (error instanceof NetworkError) {
      return text("error.network");
    }
    if (error instanceof ApiError) {
      return error.reason;
    }
    return text("error.unknown");
  };
}

export interface Action {
  /** Run a request; returns whether it succeeded. */
  run: (request: () => Promise<unknown>) => Promise<boolean>;
  pending: boolean;
  error: unknown;
}

/** Runs one request at a time and keeps its error for display. */
export function useAction(): Action {
  const [pending, setPending] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run = async (request: () => Promise<unknown>) => {
    setPending(true);
    setError(null);
    try {
      await request();
      return true;
    } catch (caught) {
      setError(caught);
      return false;
    } finally {
      setPending(false);
    }
  };
  return { run, pending, error };
}

/** The message of one field of a failed request. */
export function fieldError(error: unknown, path: string): string | undefined {
  return error instanceof ApiError ? error.field(path) : undefined;
}
