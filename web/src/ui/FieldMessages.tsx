import { FieldError, Text } from "react-aria-components";

export interface FieldProps {
  label: string;
  hint?: string | undefined;
  /** Why the value was refused; shown until it changes. */
  error?: string | undefined;
  isDisabled?: boolean;
}

/** The hint and the error of a field, which describe its control. */
export function FieldMessages({ hint, error }: Pick<FieldProps, "hint" | "error">) {
  return (
    <>
      {hint !== undefined && (
        <Text slot="description" className="field-hint">
          {hint}
        </Text>
      )}
      {error !== undefined && (
        <span role="alert">
          <FieldError className="field-error">{error}</FieldError>
        </span>
      )}
    </>
  );
}

/** The same for a group of controls that React Aria does not know as one. */
export function FieldNotes({
  id,
  hint,
  error,
}: {
  id: string;
  hint: string | undefined;
  error: string | undefined;
}) {
  return (
    <>
      {hint !== undefined && (
        <span id={`${id}-hint`} className="field-hint">
          {hint}
        </span>
      )}
      {error !== undefined && (
        <span id={`${id}-error`} className="field-error" role="alert">
          {error}
        </span>
      )}
    </>
  );
}
