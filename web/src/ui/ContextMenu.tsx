import { useRef, useState, type ReactNode } from "react";
import { Menu as AriaMenu, Popover } from "react-aria-components";

interface ContextMenuProps {
  label: string;
  /** The items of the menu. */
  menu: ReactNode;
  children: ReactNode;
}

/** Opens a menu at the pointer by a secondary press, a long touch or the keyboard's menu key. */
export function ContextMenu({ label, menu, children }: ContextMenuProps) {
  const anchor = useRef<HTMLSpanElement>(null);
  const [at, setAt] = useState<{ left: number; top: number } | null>(null);
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
        <>
          <span ref={anchor} className="context-anchor" style={at} />
          <Popover
            className="menu-popover"
            triggerRef={anchor}
            placement="bottom start"
            isOpen
            onOpenChange={(open) => !open && setAt(null)}
          >
            <AriaMenu aria-label={label} className="menu" autoFocus="first" onAction={() => setAt(null)}>
              {menu}
            </AriaMenu>
          </Popover>
        </>
      )}
    </div>
  );
}
