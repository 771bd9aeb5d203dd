import type { ReactNode } from "react";

interface ToggleProps {
  /** Its name for screen readers, where it is not its content. */
  label?: string;
  className: string;
  isSelected: boolean;
  isDisabled?: boolean;
  onChange: (isSelected: boolean) => void;
  children: ReactNode;
}

/** A button that is on or off: the document's own, as messages may have dozens. */
export function Toggle({
  label,
  className,
  isSelected,
  isDisabled = false,
  onChange,
  children,
}: ToggleProps) {
  return (
    <button
      type="button"
      className={className}
      aria-label={label}
      aria-pressed={isSelected}
      disabled={isDisabled}
      onClick={() => onChange(!isSelected)}
    >
      {children}
    </button>
  );
}
