import { ComponentType } from "../../api/enums";
import type { MessageId } from "../../i18n/messages";
import { fitsTypes } from "../commands/options";
import { checkUploads, type UploadLimits } from "../attachments/uploads";
import type { Component } from "./types";

/** The value of a field: a text, chosen values, a box that is checked or not, or files. */
export type Value = string | readonly string[] | boolean | readonly File[];
export type Values = Readonly<Record<string, Value>>;

const MAX_TEXT = 4000;

/** The fields of a modal, without labels and rows. */
export function fieldsIn(components: readonly Component[]): Component[] {
  return components.flatMap((component) => component.component ?? component.components ?? []);
}

/** What a select has chosen before the user chooses: options, or users, roles and channels by id. */
export function defaultValues(component: Component): string[] {
  const options = (component.options ?? []).filter((option) => option.default).map((option) => option.value);
  return [...options, ...(component.default_values ?? []).map((value) => value.id)];
}

export function initialValues(components: readonly Component[]): Record<string, Value> {
  return Object.fromEntries(
    fieldsIn(components).map((field) => [field.custom_id ?? "", initialValue(field)]),
  );
}

function initialValue(field: Component): Value {
  switch (field.type) {
    case ComponentType.TextInput:
      return field.value ?? "";
    case ComponentType.Checkbox:
      return field.default === true;
    case ComponentType.RadioGroup:
      return defaultValues(field)[0] ?? "";
    default:
      return defaultValues(field);
  }
}

/** Why a field cannot be submitted, as the id of a text with its values. */
export interface FieldProblem {
  id: MessageId;
  values: Record<string, string | number>;
}

/** Check a field as the server does; null if it can be submitted. `limits` are those of files. */
export function problemOf(
  field: Component,
  value: Value | undefined,
  limits: UploadLimits,
): FieldProblem | null {
  if (field.type === ComponentType.Checkbox) {
    return null;
  }
  if (isEmpty(value)) {
    return field.required === false ? null : { id: "component.required", values: {} };
  }
  if (field.type === ComponentType.TextInput) {
    return checkText(field, typeof value === "string" ? value.trim() : "");
  }
  if (typeof value !== "object") {
    return null;
  }
  const count = checkCount(field, value.length);
  return (
    count ??
    (field.type === ComponentType.FileUpload ? checkFiles(field, value as readonly File[], limits) : null)
  );
}

function isEmpty(value: Value | undefined): boolean {
  if (typeof value === "string") {
    return value.trim() === "";
  }
  return value === undefined || (typeof value === "object" && value.length === 0);
}

function checkText(field: Component, text: string): FieldProblem | null {
  // The API counts code points.
  const { length } = Array.from(text);
  const min = field.min_length ?? 0;
  const max = field.max_length ?? MAX_TEXT;
  if (length < min) {
    return { id: "command.problem.minLength", values: { min } };
  }
  return length > max ? { id: "command.problem.maxLength", values: { max } } : null;
}

function checkCount(field: Component, count: number): FieldProblem | null {
  const min = field.min_values ?? 1;
  const max =
    field.max_values ?? (field.type === ComponentType.CheckboxGroup ? (field.options ?? []).length : 1);
  if (count < min) {
    return { id: "component.problem.min", values: { min } };
  }
  return count > max ? { id: "component.problem.max", values: { max } } : null;
}

function checkFiles(field: Component, files: readonly File[], limits: UploadLimits): FieldProblem | null {
  const types = field.file_types ?? [];
  if (files.some((file) => !fitsTypes(file.name, types))) {
    return { id: "command.problem.fileType", values: { types: types.join(", ") } };
  }
  const problem = checkUploads(
    files.map((file) => ({ file })),
    limits,
  );
  return problem && { id: problem.id, values: problem.values };
}

/** A component of the modal with its value, as a submission has it. Adds uploaded files to `files`. */
export function answer(component: Component, values: Values, files: File[]): Record<string, unknown> {
  const own = { type: component.type, ...(component.id !== undefined && { id: component.id }) };
  if (component.component !== undefined) {
    return { ...own, component: answerField(component.component, values, files) };
  }
  if (component.components !== undefined) {
    return { ...own, components: component.components.map((each) => answerField(each, values, files)) };
  }
  return own;
}

function answerField(field: Component, values: Values, files: File[]): Record<string, unknown> {
  const own = {
    type: field.type,
    custom_id: field.custom_id,
    ...(field.id !== undefined && { id: field.id }),
  };
  const value = values[field.custom_id ?? ""] ?? "";
  if (field.type === ComponentType.FileUpload) {
    const uploads = typeof value === "object" ? (value as readonly File[]) : [];
    return { ...own, values: uploads.map((file) => String(files.push(file) - 1)) };
  }
  if (field.type === ComponentType.RadioGroup) {
    return { ...own, value: value === "" ? null : value };
  }
  return typeof value === "object" ? { ...own, values: value } : { ...own, value };
}
