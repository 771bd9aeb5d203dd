import { useRef, type ReactNode } from "react";
import { ButtonContext, type PopoverProps } from "react-aria-components";

import { Translate } from "../i18n/translate";
import { loaded } from "./loaded";

const PanelPopover = loaded(() => import("./PanelPopover"));

interface PanelProps extends Pick<PopoverProps, "placement"> {
  /** The button that opens it. */
  trigger: ReactNode;
  label: string;
  className: string;
  isOpen: boolean;
  onOpenChange: (open: boolean) => void;
  children: ReactNode;
}

/** What a panel shows until the code of what is to choose from is there. */
export function PanelLoading({ wide = false }: { wide?: boolean }) {
  return (
    <p className={wide ? "panel-loading panel-loading-wide" : "panel-loading"}>
      <Translate id="app.loading" />
    </p>
  );
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
      {isOpen && <PanelPopover anchor={button} onClose={() => onOpenChange(false)} {...props} />}
    </>
  );
}
