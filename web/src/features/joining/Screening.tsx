import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";

import { getScreeningForm, submitScreeningForm, type ScreeningField } from "../../api/joining";
import { useText } from "../../i18n/translate";
import type { GuildState } from "../../store/state";
import { DialogFooter } from "../../ui/DialogFooter";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/TextField";
import { Checkbox } from "../../ui/fields";
import { Select } from "../../ui/Select";
import { ErrorNotice } from "../session/ErrorNotice";
import { useSession } from "../session/session";
import { fieldError, useAction, useErrorText } from "../session/useAction";
import { hasAllResponses, type ScreeningResponse } from "./responses";

interface ScreeningDialogProps {
  guild: GuildState;
  onClose: () => void;
}

/** The rules and questions that a pending member answers. */
export function ScreeningDialog({ guild, onClose }: ScreeningDialogProps) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const errorText = useErrorText();
  const [responses, setResponses] = useState<Readonly<Record<number, ScreeningResponse>>>({});
  const form = useQuery({
    queryKey: ["screening", guild.id],
    queryFn: () => getScreeningForm(api, guild.id),
    retry: false,
    staleTime: 0,
  });
  const fields = form.data?.form_fields ?? [];
  const submit = async () => {
    if (form.data === undefined) {
      return;
    }
    const values = fields.map((_, index) => responses[index] ?? null);
    await submitScreeningForm(api, guild.id, form.data, values);
  };
  return (
    <Dialog title={text("joining.screening", { name: guild.name })} onClose={onClose}>
      {form.isPending && <div className="skeleton settings-skeleton" aria-hidden="true" />}
      {form.isError && (
        <p role="alert" className="notice notice-danger">
          {errorText(form.error)}
        </p>
      )}
      {form.data !== undefined && (
        <Form
          className="stack"
          validationBehavior="aria"
          onSubmit={(event) => {
            event.preventDefault();
            void action.run(submit).then((done) => {
              if (done) {
                onClose();
              }
            });
          }}
        >
          {form.data.description !== null && <p>{form.data.description}</p>}
          {fields.map((field, index) => (
            <Field
              // The order is the only identity that fields have.
              key={index}
              field={field}
              value={responses[index] ?? null}
              onChange={(value) => setResponses({ ...responses, [index]: value })}
              error={fieldError(action.error, `form_fields.${index}`)}
            />
          ))}
          <ErrorNotice error={action.error} />
          <DialogFooter
            confirm={text("joining.submit")}
            isDisabled={action.pending || !hasAllResponses(fields, responses)}
            cancel={text("joining.later")}
            onCancel={onClose}
          />
        </Form>
      )}
    </Dialog>
  );
}

interface FieldProps {
  field: ScreeningField;
  value: ScreeningResponse;
  onChange: (value: ScreeningResponse) => void;
  error: string | undefined;
}

function Field({ field, value, onChange, error }: FieldProps) {
  const text = useText();
  const label = field.required ? field.label : text("joining.optional", { label: field.label });
  switch (field.field_type) {
    case "TERMS":
      return (
        <section className="stack">
          <h3>{field.label}</h3>
          <ol className="rules">
            {field.values?.map((rule) => (
              <li key={rule}>{rule}</li>
            ))}
          </ol>
          <Checkbox label={text("joining.agree")} isSelected={value === true} onChange={onChange} />
          {error !== undefined && <span className="field-error">{error}</span>}
        </section>
      );
    case "MULTIPLE_CHOICE":
      return (
        <Select
          label={label}
          hint={field.description ?? undefined}
          value={value === null ? "" : String(value)}
          options={[
            ["", text("component.select")],
            ...(field.choices ?? []).map((choice, index): [string, string] => [String(index), choice]),
          ]}
          onChange={(chosen) => onChange(chosen === "" ? null : Number(chosen))}
          error={error}
        />
      );
    default:
      return (
        <TextField
          label={label}
          {...(field.description !== null && { hint: field.description })}
          multiline={field.field_type === "PARAGRAPH"}
          value={typeof value === "string" ? value : ""}
          onChange={(words) => onChange(words === "" ? null : words)}
          error={error}
        />
      );
  }
}
