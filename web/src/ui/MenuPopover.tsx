import type { ReactElement, ReactNode, RefObject } from "react";
import {
  Menu as AriaMenu,
  MenuItem,
  MenuTrigger,
  Popover,
  Separator,
  SubmenuTrigger,
  type PopoverProps,
} from "react-aria-components";

import { MenuPartsContext, type MenuFocus, type MenuParts } from "./menuParts";

interface MenuPopoverProps extends Pick<PopoverProps, "placement"> {
  /** What the menu stands beside. */
  anchor: RefObject<HTMLElement | null>;
  anchorId: string;
  label: string;
  focus: MenuFocus;
  /** Whether it stands at the bottom of the screen where that is narrow. */
  isSheet?: boolean;
  onClose: () => void;
  children: ReactNode;
}

const PARTS: MenuParts = { Item: MenuItem, Separator, Submenu };

/** A menu that is open as long as it is rendered. */
export default function MenuPopover(props: MenuPopoverProps) {
  const { anchor, anchorId, label, focus, placement, isSheet = false, onClose, children } = props;
  return (
    <MenuPartsContext value={PARTS}>
      <MenuTrigger isOpen onOpenChange={(open) => !open && onClose()}>
        <Popover
          className={isSheet ? "menu-popover menu-sheet" : "menu-popover"}
          triggerRef={anchor}
          aria-labelledby={anchorId}
          {...(placement && { placement })}
        >
          <AriaMenu aria-label={label} aria-labelledby={anchorId} className="menu" autoFocus={focus}>
            {children}
          </AriaMenu>
        </Popover>
      </MenuTrigger>
    </MenuPartsContext>
  );
}

function Submenu({ item, label, children }: { item: ReactElement; label?: string; children: ReactNode }) {
  return (
    <SubmenuTrigger>
      {item}
      <Popover className="menu-popover">
        {label === undefined ? (
          children
        ) : (
          <AriaMenu aria-label={label} className="menu">
            {children}
          </AriaMenu>
        )}
      </Popover>
    </SubmenuTrigger>
  );
}
