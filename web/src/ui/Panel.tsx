import { lazy, Suspense, useRef, type ReactNode } from "react";
import { ButtonContext, type PopoverProps } from "react-aria-components";

const PanelPopover = lazy(() => import("./PanelPopover"));

interface PanelProps extends Pick<PopoverProps, "placement"> {
  /** The button that opens it. */
  trigger: ReactNode;
  label: string;
  className: string;
  isOpen: boolean;
  onOpenChange: (open: boolean) => void;
  children: ReactNode;
}

/** A small dialog beside the button that opens it. */
export function Panel({ trigger, isOpen, onOpenChange, ...props }: PanelProps) {
  const button = useRef<HTMLButtonElement>(null);
  const control = {
    ref: button,
    "aria-haspopup": "dialog" as const,
    "aria-expanded": isOpen,
    onPress: () => onOpenChange(!isOpen),
  };
  return (
    <>
      <ButtonContext value={control}>{trigger}</ButtonContext>
      {isOpen && (
        <Suspense>
          <PanelPopover anchor={button} onClose={() => onOpenChange(false)} {...props} />
        </Suspense>
      )}
    </>
  );
}
