import { useEffect, useRef, type ReactNode } from "react";
import { Form } from "react-aria-components";

import type { SettingsForm } from "../session/useForm";
import { ErrorNotice } from "../session/ErrorNotice";
import { LeaveGuard, SaveBar } from "../session/Unsaved";

interface FormFrameProps<T extends object> {
  form: SettingsForm<T>;
  /** The paths of the fields that show their own errors. */
  shown: readonly string[];
  isDisabled?: boolean;
  children: ReactNode;
}

/** The fields of a form with a bar to save them, which shows while there are changes; leaving asks about them. */
export function FormFrame<T extends object>({
  form,
  shown,
  isDisabled = false,
  children,
}: FormFrameProps<T>) {
  const body = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (form.error !== null) {
      body.current
        ?.querySelector("[aria-invalid='true'], [data-invalid] input")
        ?.scrollIntoView({ block: "center" });
    }
  }, [form.error]);
  return (
    <Form
      className="settings-form"
      validationBehavior="aria"
      onSubmit={(event) => {
        event.preventDefault();
        if (form.isDirty && !form.pending) {
          void form.save();
        }
      }}
    >
      <div ref={body} className="stack">
        {children}
      </div>
      <ErrorNotice error={form.error} shown={shown} />
      <SaveBar draft={form} isDisabled={isDisabled} submits />
      <LeaveGuard draft={form} />
    </Form>
  );
}
