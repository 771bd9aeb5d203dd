import type { ReactNode } from "react";
import { ListLayout, Virtualizer } from "react-aria-components";

/** Options of one line; what is higher is measured. */
const LAYOUT = { estimatedRowSize: 34 };

/** Around a list box of hundreds of options, of which the document has those in sight alone. */
export function LongList({ children }: { children: ReactNode }) {
  return (
    <Virtualizer layout={ListLayout} layoutOptions={LAYOUT}>
      {children}
    </Virtualizer>
  );
}
