import type { ReactNode } from "react";
import { Form } from "react-aria-components";

import { DialogFooter, type DialogFooterProps } from "../../ui/DialogFooter";
import { ErrorNotice } from "./ErrorNotice";
import type { Action } from "./useAction";

interface ActionFormProps extends Omit<DialogFooterProps, "onConfirm"> {
  /** What submitting runs: its error shows above the buttons, and it is not started twice. */
  action: Action;
  /** The paths of the fields that show their own errors. */
  shown?: readonly string[] | undefined;
  onSubmit: () => void;
  children: ReactNode;
}

/** A form in a dialog: its fields, why it failed, and the buttons. */
export function ActionForm({
  action,
  shown,
  onSubmit,
  isDisabled = false,
  children,
  ...footer
}: ActionFormProps) {
  return (
    <Form
      className="stack"
      validationBehavior="aria"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      <ErrorNotice error={action.error} shown={shown} />
      <DialogFooter {...footer} isDisabled={action.pending || isDisabled} />
    </Form>
  );
}
