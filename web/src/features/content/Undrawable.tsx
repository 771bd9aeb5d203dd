import type { ReactNode } from "react";

import { Translate } from "../../i18n/translate";
import { Guard } from "../../ui/Guard";

/** Stands for a part of a message that this client cannot draw, such as one of a shape that it does not know. */
export function Undrawable() {
  return (
    <p className="message-system">
      <Translate id="message.undrawable" />
    </p>
  );
}

/** A message, or a part of one: when it cannot be drawn, it says so, and the screen around it stays. */
export function Guarded({ children }: { children: ReactNode }) {
  return <Guard fallback={<Undrawable />}>{children}</Guard>;
}
