import { useContext, useId, useRef, useState, type ReactNode } from "react";
import { createPortal } from "react-dom";
import {
  ButtonContext,
  type ButtonProps,
  type MenuItemProps as AriaMenuItemProps,
  type PressEvent,
} from "react-aria-components";

import { loaded } from "./loaded";

import { MenuPartsContext, type MenuFocus, type SubmenuProps } from "./menuParts";

const MenuPopover = loaded(() => import("./MenuPopover"));

interface MenuProps {
  trigger: ReactNode;
  label: string;
  children: ReactNode;
}

/** A menu that its trigger, a button, opens. */
export function Menu({ trigger, label, children }: MenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const [focus, setFocus] = useState<MenuFocus | null>(null);
  const control = {
    id,
    ref: button,
    "aria-haspopup": "menu" as const,
    "aria-expanded": focus !== null,
    onPress: ({ pointerType }: PressEvent) =>
      setFocus(pointerType === "keyboard" || pointerType === "virtual" ? "first" : true),
    onKeyDown: (event: Parameters<NonNullable<ButtonProps["onKeyDown"]>>[0]) => {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        setFocus(event.key === "ArrowDown" ? "first" : "last");
      } else {
        // The library would keep the page's shortcuts from it.
        event.continuePropagation();
      }
    },
  };
  return (
    <>
      <ButtonContext value={control}>{trigger}</ButtonContext>
      {focus !== null && (
        <MenuPopover
          anchor={button}
          anchorId={id}
          label={label}
          focus={focus}
          placement="bottom"
          onClose={() => setFocus(null)}
        >
          {children}
        </MenuPopover>
      )}
    </>
  );
}

interface MenuItemProps extends AriaMenuItemProps {
  danger?: boolean;
  /** Several emojis stand in a row. */
  kind?: "line" | "emoji";
}

export function MenuItem({ danger = false, kind = "line", ...props }: MenuItemProps) {
  const parts = useContext(MenuPartsContext);
  const look = kind === "emoji" ? "menu-item menu-item-emoji" : "menu-item";
  return parts && <parts.Item {...props} className={danger ? `${look} menu-item-danger` : look} />;
}

export function MenuSeparator() {
  const parts = useContext(MenuPartsContext);
  return parts && <parts.Separator className="menu-separator" />;
}

/** An item of a menu that opens a further one. */
export function Submenu(props: SubmenuProps) {
  const parts = useContext(MenuPartsContext);
  return parts && <parts.Submenu {...props} />;
}

/** A point of the window, in pixels. */
export interface Point {
  left: number;
  top: number;
}

interface MenuAtProps {
  at: Point;
  label: string;
  onClose: () => void;
  children: ReactNode;
}

/** A menu at a point, open as long as it is rendered. */
export function MenuAt({ at, label, onClose, children }: MenuAtProps) {
  const id = useId();
  const anchor = useRef<HTMLSpanElement>(null);
  return (
    <>
      {createPortal(
        // Elements that are moved would move it with them.
        <>
          <span ref={anchor} className="context-anchor" style={{ left: at.left, top: at.top }} />
          <span id={id} hidden>
            {label}
          </span>
        </>,
        document.body,
      )}
      <MenuPopover
        anchor={anchor}
        anchorId={id}
        label={label}
        focus="first"
        placement="bottom start"
        isSheet
        onClose={onClose}
      >
        {children}
      </MenuPopover>
    </>
  );
}

interface ContextMenuProps {
  label: string;
  /** The items of the menu. */
  menu: ReactNode;
  children: ReactNode;
}

/** Opens a menu at the pointer by a secondary press, a long touch or the keyboard's menu key. */
export function ContextMenu({ label, menu, children }: ContextMenuProps) {
  const [at, setAt] = useState<Point | null>(null);
  return (
    // The event comes from the control inside, which has the focus.
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions
    <div
      onContextMenu={(event) => {
        event.preventDefault();
        setAt({ left: event.clientX, top: event.clientY });
      }}
    >
      {children}
      {at !== null && (
        <MenuAt at={at} label={label} onClose={() => setAt(null)}>
          {menu}
        </MenuAt>
      )}
    </div>
  );
}
