import { useText } from "../i18n/translate";
import { Button } from "./controls";

export interface DialogFooterProps {
  /** The label of the button that does what the dialog is about. */
  confirm: string;
  kind?: "primary" | "danger";
  isDisabled?: boolean;
  /** Without it, the button submits the form that it is in. */
  onConfirm?: () => void;
  /** The label of the other button, by default "Cancel". */
  cancel?: string;
  onCancel: () => void;
}

/** The two buttons at the end of a dialog. */
export function DialogFooter({
  confirm,
  kind = "primary",
  isDisabled = false,
  onConfirm,
  cancel,
  onCancel,
}: DialogFooterProps) {
  const text = useText();
  return (
    <div className="dialog-actions">
      <Button onPress={onCancel}>{cancel ?? text("common.cancel")}</Button>
      <Button
        kind={kind}
        isDisabled={isDisabled}
        {...(onConfirm === undefined ? { type: "submit" } : { onPress: onConfirm })}
      >
        {confirm}
      </Button>
    </div>
  );
}
