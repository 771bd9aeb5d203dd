import { createContext, type ComponentType, type ReactElement, type ReactNode } from "react";
import type { MenuItemProps as AriaMenuItemProps } from "react-aria-components";

export interface SubmenuProps {
  /** The item that opens it. */
  item: ReactElement;
  /** The name of a menu whose items are the children; without it, the children are whole. */
  label?: string;
  children: ReactNode;
}

/** What menus consist of. */
export interface MenuParts {
  Item: ComponentType<AriaMenuItemProps>;
  Separator: ComponentType<{ className: string }>;
  Submenu: ComponentType<SubmenuProps>;
}

/** The parts of the menu that is open: their code is loaded with the first menu. */
export const MenuPartsContext = createContext<MenuParts | null>(null);

/** What has the focus when a menu opens: true is the menu itself, as after a press of the pointer. */
export type MenuFocus = true | "first" | "last";
