import { loaded } from "./loaded";
import type { DialogProps } from "./ModalDialog";

const ModalDialog = loaded(() => import("./ModalDialog"));

/** A modal dialog that is open as long as it is rendered. */
export function Dialog(props: DialogProps) {
  return <ModalDialog {...props} />;
}
