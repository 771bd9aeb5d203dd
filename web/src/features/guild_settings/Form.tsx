import { useBlocker } from "@tanstack/react-router";
import { useEffect, useRef, type ReactNode } from "react";
import { Form } from "react-aria-components";

import { useText } from "../../i18n/translate";
import { Button, Dialog } from "../../ui/controls";
import type { SettingsForm } from "./useForm";
import { ErrorNotice } from "../session/ErrorNotice";

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
  const text = useText();
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
      {form.isDirty && (
        <div className="save-bar" role="region" aria-label={text("guildSettings.unsaved")}>
          <span>{text("guildSettings.unsaved")}</span>
          <Button onPress={form.reset} isDisabled={form.pending}>
            {text("guildSettings.reset")}
          </Button>
          <Button type="submit" kind="primary" isDisabled={form.pending || isDisabled}>
            {text(form.pending ? "guildSettings.saving" : "common.save")}
          </Button>
        </div>
      )}
      <Leave form={form} />
    </Form>
  );
}

/** Asks what to do with changes that are not saved, when the user leaves. */
function Leave<T extends object>({ form }: { form: SettingsForm<T> }) {
  const text = useText();
  const blocker = useBlocker({
    shouldBlockFn: () => form.isDirty,
    enableBeforeUnload: form.isDirty,
    withResolver: true,
  });
  if (blocker.status !== "blocked") {
    return null;
  }
  const save = async () => {
    if (await form.save()) {
      blocker.proceed();
    } else {
      blocker.reset();
    }
  };
  return (
    <Dialog title={text("guildSettings.unsaved")} onClose={blocker.reset}>
      <p>{text("guildSettings.unsaved.question")}</p>
      <div className="dialog-actions">
        <Button onPress={blocker.reset}>{text("guildSettings.stay")}</Button>
        <Button kind="danger" onPress={blocker.proceed}>
          {text("guildSettings.discard")}
        </Button>
        <Button kind="primary" isDisabled={form.pending} onPress={() => void save()}>
          {text("common.save")}
        </Button>
      </div>
    </Dialog>
  );
}
