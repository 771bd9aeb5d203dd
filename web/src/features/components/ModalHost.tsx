import { useState, type ReactNode } from "react";

import { ComponentType } from "../../api/enums";
import { submitModal } from "../../api/interactions";
import { makeNonce } from "../../api/nonce";
import { useText } from "../../i18n/translate";
import type { Modal } from "../../store/interactions";
import { guildIdOf } from "../../store/channels";
import { Dialog, TextField } from "../../ui/controls";
import { acceptedTypes } from "../commands/options";
import { Content } from "../messages/Content";
import { maxFileSize } from "../messages/uploads";
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
  const maxSize = useAppState((state) =>
    maxFileSize(guildId === null ? 0 : (state.guilds[guildId]?.premiumTier ?? 0)),
  );
  const [values, setValues] = useState<Values>(() => initialValues(components));
  const [tried, setTried] = useState(false);
  const problem = (field: Component) => problemOf(field, values[field.custom_id ?? ""], maxSize);
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
        {...(input.max_length !== undefined && { maxLength: input.max_length })}
        {...(input.min_length !== undefined && { minLength: input.min_length })}
        error={problem}
      />
    );
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

interface InputProps {
  input: Component;
  label: string;
  guildId: string | null;
  value: Value | undefined;
  onChange: (value: Value) => void;
}

function Input({ input, label, guildId, value, onChange }: InputProps): ReactNode {
  const text = useText();
  const chosen = Array.isArray(value) ? (value as readonly string[]) : [];
  switch (input.type) {
    case ComponentType.FileUpload:
      return (
        <input
          type="file"
          aria-label={text("component.file")}
          multiple={(input.max_values ?? 1) > 1}
          accept={acceptedTypes(input.file_types)}
          onChange={(event) => onChange([...(event.target.files ?? [])])}
        />
      );
    case ComponentType.Checkbox:
      return (
        <label className="modal-choice">
          <input
            type="checkbox"
            checked={value === true}
            onChange={(event) => onChange(event.target.checked)}
          />
          {label}
        </label>
      );
    case ComponentType.RadioGroup:
      return (input.options ?? []).map((option) => (
        <label key={option.value} className="modal-choice">
          <input
            type="radio"
            name={input.custom_id}
            checked={value === option.value}
            onChange={() => onChange(option.value)}
          />
          {option.label}
        </label>
      ));
    case ComponentType.CheckboxGroup:
      return (input.options ?? []).map((option) => (
        <label key={option.value} className="modal-choice">
          <input
            type="checkbox"
            checked={chosen.includes(option.value)}
            onChange={(event) =>
              onChange(
                event.target.checked
                  ? [...chosen, option.value]
                  : chosen.filter((each) => each !== option.value),
              )
            }
          />
          {option.label}
        </label>
      ));
    default:
      return <SelectMenu component={input} guildId={guildId} label={label} onChoose={onChange} />;
  }
}
