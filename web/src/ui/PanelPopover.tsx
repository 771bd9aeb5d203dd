import type { ReactNode, RefObject } from "react";
import { Dialog, Popover, type PopoverProps } from "react-aria-components";

interface PanelPopoverProps extends Pick<PopoverProps, "placement"> {
  /** What it stands beside. */
  anchor: RefObject<HTMLElement | null>;
  label: string;
  className: string;
  onClose: () => void;
  children: ReactNode;
}

/** A small dialog beside a button, open as long as it is rendered. */
export default function PanelPopover(props: PanelPopoverProps) {
  const { anchor, label, className, placement, onClose, children } = props;
  return (
    <Popover
      className={`menu-popover ${className}-popover`}
      triggerRef={anchor}
      {...(placement && { placement })}
      isOpen
      onOpenChange={(open) => !open && onClose()}
    >
      <Dialog aria-label={label} className={className}>
        {children}
      </Dialog>
    </Popover>
  );
}
