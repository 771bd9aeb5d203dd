import { useState, type ReactNode } from "react";
import { Form } from "react-aria-components";

import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { ErrorNotice } from "../session/ErrorNotice";
import { LeaveGuard } from "../session/Unsaved";
import { useAction, type Action } from "../session/useAction";

interface SettingsFormProps {
  onSave: () => Promise<unknown>;
  /** The label of the button; "Save" without one. */
  submit?: string;
  /** What is said after saving. */
  done?: string;
  danger?: boolean;
  isDisabled?: boolean;
  /** Whether it has changes: leaving the page asks about them. */
  isDirty?: boolean;
  children: (action: Action) => ReactNode;
}

/** A form with its own button, error and confirmation. */
export function SettingsForm(props: SettingsFormProps) {
  const text = useText();
  const action = useAction();
  const [saved, setSaved] = useState(false);
  const save = async () => {
    setSaved(false);
    const succeeded = await action.run(props.onSave);
    setSaved(succeeded);
    return succeeded;
  };
  const draft = { isDirty: props.isDirty === true, pending: action.pending, save, reset: () => undefined };
  return (
    <Form
      className="settings-form"
      validationBehavior="aria"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      {props.children(action)}
      <ErrorNotice error={action.error} />
      <LeaveGuard draft={draft} />
      <div className="preferences-save">
        <span role="status">{saved && (props.done ?? text("settings.account.saved"))}</span>
        <Button
          type="submit"
          kind={props.danger === true ? "danger" : "primary"}
          isDisabled={action.pending || props.isDisabled === true}
        >
          {props.submit ?? text("common.save")}
        </Button>
      </div>
    </Form>
  );
}
