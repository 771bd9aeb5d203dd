import { useState, type ReactNode } from "react";
import { FileTrigger } from "react-aria-components";

import { ComponentType } from "../../api/enums";
import { submitModal } from "../../api/interactions";
import { makeNonce } from "../../api/nonce";
import { useText } from "../../i18n/translate";
import type { Modal } from "../../store/entities";
import { guildIdOf } from "../../store/channels";
import { CheckboxChoices, RadioChoices } from "../../ui/Choices";
import { Button } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/TextField";
import { Checkbox } from "../../ui/fields";
import { acceptedTypes } from "../commands/options";
import { Content } from "../content/Content";
import { useUploadLimits } from "../attachments/useUploadLimits";
import { ActionForm } from "../session/ActionForm";
import { useAppState, useSession } from "../session/session";
import { fieldError, useAction } from "../session/useAction";
import { answer, fieldsIn, initialValues, problemOf, type Value, type Values } from "./fields";
import { SelectMenu } from "./SelectMenu";
import type { Component } from "./types";

const PARAGRAPH = 2;

/** Shows the modal that an application asks the user to fill in. */
export function ModalHost() {
  const { store } = useSession();
  const modal = useAppState((state) => state.modal);
  const close = () => store.update((state) => ({ ...state, modal: null }));
  return modal && <ModalDialog key={modal.id} modal={modal} onClose={close} />;
}

function ModalDialog({ modal, onClose }: { modal: Modal; onClose: () => void }) {
  const text = useText();
  const { api, store } = useSession();
  const action = useAction();
  const components = modal.components as Component[];
  const channel = useAppState((state) => state.channels[modal.channel_id]);
  const guildId = channel === undefined ? null : guildIdOf(channel);
  const limits = useUploadLimits(guildId);
  const [values, setValues] = useState<Values>(() => initialValues(components));
  const [tried, setTried] = useState(false);
  const problem = (field: Component) => problemOf(field, values[field.custom_id ?? ""], limits);
  const submit = async () => {
    setTried(true);
    if (fieldsIn(components).some((field) => problem(field) !== null)) {
      return;
    }
    const files: File[] = [];
    const answers = components.map((component) => answer(component, values, files));
    const source = {
      applicationId: modal.application.id,
      guildId,
      channelId: modal.channel_id,
      sessionId: store.state.sessionId,
      nonce: makeNonce(),
    };
    const submitted = { id: modal.id, customId: modal.custom_id, components: answers };
    if (await action.run(() => submitModal(api, source, submitted, files))) {
      onClose();
    }
  };
  const set = (customId: string, value: Value) => setValues((before) => ({ ...before, [customId]: value }));
  return (
    <Dialog title={modal.title} onClose={onClose}>
      <p className="field-hint">{text("component.modalFrom", { name: modal.application.name })}</p>
      <ActionForm
        action={action}
        onSubmit={() => void submit()}
        confirm={text("component.submit")}
        onCancel={onClose}
      >
        {components.map((component, index) => (
          <Field
            key={component.id ?? index}
            component={component}
            guildId={guildId}
            values={values}
            onChange={set}
            error={(field) => {
              const found = tried ? problem(field) : null;
              return found === null
                ? fieldError(action.error, `data.components.${index}`)
                : text(found.id, found.values);
            }}
          />
        ))}
      </ActionForm>
    </Dialog>
  );
}

interface FieldProps {
  component: Component;
  guildId: string | null;
  values: Values;
  onChange: (customId: string, value: Value) => void;
  error: (field: Component) => string | undefined;
}

/** A text, a label with its field, or an action row with a text input, as older modals have. */
function Field({ component, guildId, values, onChange, error }: FieldProps): ReactNode {
  if (component.type === ComponentType.TextDisplay) {
    return <Content content={component.content ?? ""} guildId={guildId} />;
  }
  const input = component.component ?? component.components?.[0];
  if (input === undefined) {
    return null;
  }
  const label = component.label ?? input.label ?? "";
  const customId = input.custom_id ?? "";
  const value = values[customId];
  const problem = error(input);
  const set = (changed: Value) => onChange(customId, changed);
  if (input.type === ComponentType.TextInput) {
    return (
      <TextField
        label={label}
        {...(component.description && { hint: component.description })}
        value={typeof value === "string" ? value : ""}
        onChange={set}
        multiline={input.style === PARAGRAPH}
        isRequired={input.required !== false}
        {...(input.placeholder && { placeholder: input.placeholder })}
        {...(typeof input.max_length === "number" && { maxLength: input.max_length })}
        {...(typeof input.min_length === "number" && { minLength: input.min_length })}
        error={problem}
      />
    );
  }
  const field = { label, hint: component.description ?? undefined, error: problem };
  if (input.type === ComponentType.RadioGroup) {
    return (
      <RadioChoices
        {...field}
        choices={input.options ?? []}
        value={typeof value === "string" ? value : ""}
        onChange={set}
      />
    );
  }
  if (input.type === ComponentType.CheckboxGroup) {
    return <CheckboxChoices {...field} choices={input.options ?? []} value={textsOf(value)} onChange={set} />;
  }
  return (
    <fieldset className="field modal-field">
      <legend>{label}</legend>
      {component.description && <span className="field-hint">{component.description}</span>}
      <Input input={input} label={label} guildId={guildId} value={value} onChange={set} />
      {problem !== undefined && <span className="field-error">{problem}</span>}
    </fieldset>
  );
}

function textsOf(value: Value | undefined): readonly string[] {
  return Array.isArray(value) ? (value as readonly string[]) : [];
}

interface InputProps {
  input: Component;
  label: string;
  guildId: string | null;
  value: Value | undefined;
  onChange: (value: Value) => void;
}

function Input({ input, label, guildId, value, onChange }: InputProps): ReactNode {
  switch (input.type) {
    case ComponentType.FileUpload:
      return (
        <FileInput input={input} files={Array.isArray(value) ? (value as File[]) : []} onChange={onChange} />
      );
    case ComponentType.Checkbox:
      return <Checkbox label={label} isSelected={value === true} onChange={onChange} />;
    default:
      return <SelectMenu component={input} guildId={guildId} label={label} onChoose={onChange} />;
  }
}

interface FileInputProps {
  input: Component;
  files: readonly File[];
  onChange: (files: readonly File[]) => void;
}

/** Files, which a new choice replaces. */
function FileInput({ input, files, onChange }: FileInputProps) {
  const text = useText();
  return (
    <span className="modal-files">
      <FileTrigger
        allowsMultiple={(input.max_values ?? 1) > 1}
        acceptedFileTypes={acceptedTypes(input.file_types)?.split(",") ?? []}
        onSelect={(chosen) => onChange([...(chosen ?? [])])}
      >
        <Button>{text("component.file")}</Button>
      </FileTrigger>
      <span role="status">{files.map((file) => file.name).join(", ")}</span>
    </span>
  );
}
