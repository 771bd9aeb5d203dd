import type { ReactNode } from "react";
import { Form } from "react-aria-components";

import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { ErrorNotice } from "../session/ErrorNotice";
import type { Action } from "../session/useAction";

interface StepFormProps {
  about: string;
  action: Action;
  isDirty: boolean;
  /** The fields that show their own errors. */
  shown: readonly string[];
  /** Save what has changed, and go on. */
  onSave: () => Promise<unknown>;
  /** Go on without saving. */
  onSkip: () => void;
  submit?: string;
  isDisabled?: boolean;
  children: ReactNode;
}

/** The form of one step: it is saved at once, and what is typed stays until then. */
export function StepForm(props: StepFormProps) {
  const { action, isDirty } = props;
  const text = useText();
  return (
    <Form
      className="settings-form"
      validationBehavior="aria"
      onSubmit={(event) => {
        event.preventDefault();
        void action.run(props.onSave);
      }}
    >
      <p>{props.about}</p>
      {props.children}
      <ErrorNotice error={action.error} shown={props.shown} />
      <div className="setup-actions">
        <span role="status">{isDirty && text("setup.unsaved")}</span>
        <Button onPress={props.onSkip} isDisabled={action.pending}>
          {text("setup.later")}
        </Button>
        <Button type="submit" kind="primary" isDisabled={action.pending || props.isDisabled === true}>
          {props.submit ?? text("setup.save")}
        </Button>
      </div>
    </Form>
  );
}
