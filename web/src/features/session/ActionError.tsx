import { useErrorText, type Action } from "./useAction";

/** Says why a request failed; nothing without an error. */
export function ActionError({ action }: { action: Pick<Action, "error"> }) {
  const errorText = useErrorText();
  return action.error === null ? null : (
    <p role="alert" className="notice notice-danger">
      {errorText(action.error)}
    </p>
  );
}
