import { ChevronDown, ImageUp, Trash2, X } from "lucide-react";
import { useId, useRef, useState, type ReactNode } from "react";
import {
  Autocomplete,
  Button as AriaButton,
  Checkbox as AriaCheckbox,
  Dialog,
  DialogTrigger,
  Input,
  ListBox,
  ListBoxItem,
  Popover,
  SearchField as AriaSearchField,
  Switch as AriaSwitch,
  useFilter,
  type Selection,
} from "react-aria-components";

import { useText } from "../i18n/translate";
import { Button, IconButton } from "./controls";
import "./fields.css";

interface FieldProps {
  label: string;
  hint?: string | undefined;
  /** Why the value was refused; shown until it changes. */
  error?: string | undefined;
  isDisabled?: boolean;
}

/** The label, hint and error of a control; `children` receives the ids that describe it. */
function Field({
  label,
  hint,
  error,
  children,
}: FieldProps & {
  children: (ids: {
    id: string;
    "aria-describedby": string | undefined;
    "aria-invalid": boolean;
  }) => ReactNode;
}) {
  const id = useId();
  const described = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(
    Boolean,
  );
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        "aria-describedby": described.length === 0 ? undefined : described.join(" "),
        "aria-invalid": error !== undefined,
      })}
      <FieldNotes id={id} hint={hint} error={error} />
    </div>
  );
}

function FieldNotes({
  id,
  hint,
  error,
}: {
  id: string;
  hint: string | undefined;
  error: string | undefined;
}) {
  return (
    <>
      {hint !== undefined && (
        <span id={`${id}-hint`} className="field-hint">
          {hint}
        </span>
      )}
      {error !== undefined && (
        <span id={`${id}-error`} className="field-error" role="alert">
          {error}
        </span>
      )}
    </>
  );
}

interface SelectProps<T extends string> extends FieldProps {
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}

/** One of a few values, by the device's own menu. */
export function Select<T extends string>({ value, options, onChange, isDisabled, ...field }: SelectProps<T>) {
  return (
    <Field {...field}>
      {(ids) => (
        <select
          {...ids}
          value={value}
          disabled={isDisabled ?? false}
          onChange={(event) => onChange(event.target.value as T)}
        >
          {options.map(([option, name]) => (
            <option key={option} value={option}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface NumberFieldProps extends FieldProps {
  value: number;
  min: number;
  max: number;
  onChange: (value: number) => void;
}

/** A whole number within bounds. */
export function NumberField({ value, min, max, onChange, isDisabled, ...field }: NumberFieldProps) {
  return (
    <Field {...field}>
      {(ids) => (
        <input
          {...ids}
          type="number"
          inputMode="numeric"
          min={min}
          max={max}
          value={value}
          disabled={isDisabled ?? false}
          onChange={(event) =>
            onChange(Math.min(max, Math.max(min, Math.round(event.target.valueAsNumber || 0))))
          }
        />
      )}
    </Field>
  );
}

interface SwitchProps {
  label: string;
  /** Where the text beside it says what it is. */
  hidesLabel?: boolean;
  hint?: string | undefined;
  isSelected: boolean;
  isDisabled?: boolean;
  onChange: (isSelected: boolean) => void;
}

export function Switch({ label, hidesLabel = false, hint, isDisabled = false, ...props }: SwitchProps) {
  const hintId = useId();
  return (
    <AriaSwitch
      {...props}
      isDisabled={isDisabled}
      className="switch"
      aria-label={label}
      {...(hint !== undefined && { "aria-describedby": hintId })}
    >
      {!hidesLabel && (
        <span className="switch-text">
          <span className="switch-label">{label}</span>
          {hint !== undefined && (
            <span id={hintId} className="field-hint">
              {hint}
            </span>
          )}
        </span>
      )}
      <span className="switch-track" aria-hidden="true">
        <span className="switch-thumb" />
      </span>
    </AriaSwitch>
  );
}

interface CheckboxProps {
  /** Its text, or its name for screen readers if it stands alone. */
  label: string;
  hidesLabel?: boolean;
  isSelected: boolean;
  isIndeterminate?: boolean;
  isDisabled?: boolean;
  onChange: (isSelected: boolean) => void;
}

export function Checkbox({ label, hidesLabel = false, ...props }: CheckboxProps) {
  return (
    <AriaCheckbox {...props} className="checkbox" {...(hidesLabel && { "aria-label": label })}>
      <span className="checkbox-box" aria-hidden="true" />
      {!hidesLabel && <span>{label}</span>}
    </AriaCheckbox>
  );
}

interface SearchFieldProps {
  label: string;
  icon?: ReactNode;
  value: string;
  onChange: (value: string) => void;
  autoFocus?: boolean;
}

/** A search box whose label shows as its placeholder; Escape clears it. */
export function SearchField({ label, icon, ...props }: SearchFieldProps) {
  return (
    <AriaSearchField {...props} aria-label={label} className="search-field">
      {icon}
      <Input placeholder={label} />
    </AriaSearchField>
  );
}

interface ColorFieldProps extends FieldProps {
  /** 0xRRGGBB. */
  value: number;
  onChange: (value: number) => void;
}

export function ColorField({ value, onChange, isDisabled = false, ...field }: ColorFieldProps) {
  const hex = `#${value.toString(16).padStart(6, "0")}`;
  return (
    <Field {...field}>
      {(ids) => (
        <span className="color-field">
          <input
            {...ids}
            type="color"
            value={hex}
            disabled={isDisabled}
            onChange={(event) => onChange(Number.parseInt(event.target.value.slice(1), 16))}
          />
          <code>{hex}</code>
        </span>
      )}
    </Field>
  );
}

interface ImageFieldProps extends FieldProps {
  /** The URL of the picture, or a data URI of a new one; null shows none. */
  url: string | null;
  /** Of the preview. */
  shape: "round" | "wide";
  /** Called with the data URI of the chosen file, or null to remove the picture. */
  onChange: (data: string | null) => void;
  accept?: string;
}

/** A picture that can be replaced or removed. */
export function ImageField({ url, shape, onChange, accept, isDisabled = false, ...field }: ImageFieldProps) {
  const text = useText();
  const id = useId();
  return (
    <div className="field" role="group" aria-labelledby={`${id}-label`}>
      <span id={`${id}-label`} className="field-label">
        {field.label}
      </span>
      <div className="image-field">
        <span className={`image-preview image-${shape}`}>
          {url === null ? <ImageUp size={22} aria-hidden="true" /> : <img src={url} alt={field.label} />}
        </span>
        <FileButton
          accept={accept ?? "image/png,image/jpeg,image/gif,image/webp"}
          isDisabled={isDisabled}
          onChoose={(file) => void readDataUri(file).then(onChange)}
        >
          {text("field.image.choose")}
        </FileButton>
        {url !== null && (
          <IconButton
            label={text("field.image.remove", { name: field.label })}
            isDisabled={isDisabled}
            onPress={() => onChange(null)}
          >
            <Trash2 size={18} />
          </IconButton>
        )}
      </div>
      <FieldNotes id={id} hint={field.hint} error={field.error} />
    </div>
  );
}

interface FileButtonProps {
  accept: string;
  isDisabled?: boolean;
  onChoose: (file: File) => void;
  children: ReactNode;
}

/** A button that opens the device's file chooser. */
export function FileButton({ accept, isDisabled = false, onChoose, children }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        accept={accept}
        hidden
        onChange={(event) => {
          const file = event.target.files?.[0];
          event.target.value = "";
          if (file !== undefined) {
            onChoose(file);
          }
        }}
      />
      <Button isDisabled={isDisabled} onPress={() => input.current?.click()}>
        {children}
      </Button>
    </>
  );
}

/** A file as a data URI, the form in which the API takes pictures and sounds. */
export function readDataUri(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error ?? new Error("The file could not be read."));
    reader.readAsDataURL(file);
  });
}

export interface PickerOption {
  id: string;
  name: string;
  isDisabled?: boolean;
}

interface PickerProps extends FieldProps {
  options: readonly PickerOption[];
  value: readonly string[];
  onChange: (value: string[]) => void;
  max?: number;
  /** Shown while nothing is chosen. */
  placeholder?: string;
}

/** Any number of values: shown as tags, chosen from a list with search. */
export function Picker({ options, value, onChange, max, placeholder, isDisabled, ...field }: PickerProps) {
  const text = useText();
  const id = useId();
  const { contains } = useFilter({ sensitivity: "base" });
  const chosen = value.map(
    (each) => options.find((option) => option.id === each) ?? { id: each, name: each },
  );
  const change = (selection: Selection) => {
    const ids = selection === "all" ? options.map((option) => option.id) : [...selection].map(String);
    if (max === undefined || ids.length <= max) {
      onChange(ids);
    }
  };
  return (
    <div className="field" role="group" aria-labelledby={`${id}-label`}>
      <span id={`${id}-label`} className="field-label">
        {field.label}
      </span>
      <div className="picker">
        {chosen.length === 0 && placeholder !== undefined && (
          <span className="field-hint">{placeholder}</span>
        )}
        {chosen.map((option) => (
          <span key={option.id} className="picker-tag">
            {option.name}
            <AriaButton
              className="picker-remove"
              aria-label={text("field.picker.remove", { name: option.name })}
              isDisabled={isDisabled ?? false}
              onPress={() => onChange(value.filter((each) => each !== option.id))}
            >
              <X size={13} aria-hidden="true" />
            </AriaButton>
          </span>
        ))}
        <DialogTrigger>
          <AriaButton
            className="picker-add"
            aria-label={text("field.picker.choose", { name: field.label })}
            isDisabled={isDisabled ?? false}
          >
            {text("field.picker.add")} <ChevronDown size={14} aria-hidden="true" />
          </AriaButton>
          <Popover className="menu-popover" placement="bottom start">
            <Dialog aria-label={field.label} className="picker-dialog">
              <Autocomplete filter={contains}>
                <AriaSearchField aria-label={text("field.picker.search")} className="search-field" autoFocus>
                  <Input placeholder={text("field.picker.search")} />
                </AriaSearchField>
                <ListBox
                  aria-label={field.label}
                  className="picker-list"
                  selectionMode="multiple"
                  escapeKeyBehavior="none"
                  selectedKeys={value}
                  disabledKeys={options.filter((option) => option.isDisabled).map((option) => option.id)}
                  onSelectionChange={change}
                  items={options}
                  renderEmptyState={() => <span className="picker-empty">{text("field.picker.none")}</span>}
                >
                  {(option) => (
                    <ListBoxItem id={option.id} textValue={option.name} className="menu-item picker-item">
                      {option.name}
                    </ListBoxItem>
                  )}
                </ListBox>
              </Autocomplete>
            </Dialog>
          </Popover>
        </DialogTrigger>
      </div>
      <FieldNotes id={id} hint={field.hint} error={field.error} />
    </div>
  );
}

interface TagsFieldProps extends FieldProps {
  value: readonly string[];
  onChange: (value: string[]) => void;
  max: number;
  maxLength: number;
  /** Texts are separated by lines alone, as they may contain commas. */
  hasCommas?: boolean;
}

/** A list of short texts; Enter or the button adds one, and pasted lines or commas add several. */
export function TagsField(props: TagsFieldProps) {
  const { value, onChange, max, maxLength, hasCommas = false, isDisabled, ...field } = props;
  const text = useText();
  const [draft, setDraft] = useState("");
  const separator = hasCommas ? /\n/ : /[\n,]/;
  const add = (input: string) => {
    const added = input
      .split(separator)
      .map((each) => each.trim().slice(0, maxLength))
      .filter((each) => each !== "");
    onChange([...new Set([...value, ...added])].slice(0, max));
    setDraft("");
  };
  return (
    <Field {...field}>
      {(ids) => (
        <>
          <span className="picker">
            {value.map((each) => (
              <span key={each} className="picker-tag">
                {each}
                <AriaButton
                  className="picker-remove"
                  aria-label={text("field.picker.remove", { name: each })}
                  isDisabled={isDisabled ?? false}
                  onPress={() => onChange(value.filter((other) => other !== each))}
                >
                  <X size={13} aria-hidden="true" />
                </AriaButton>
              </span>
            ))}
          </span>
          <span className="tags-input">
            <input
              {...ids}
              value={draft}
              maxLength={Math.max(maxLength, 4000)}
              disabled={(isDisabled ?? false) || value.length >= max}
              onChange={(event) =>
                separator.test(event.target.value) ? add(event.target.value) : setDraft(event.target.value)
              }
              onKeyDown={(event) => {
                if (event.key === "Enter" && draft.trim() !== "") {
                  event.preventDefault();
                  add(draft);
                }
              }}
            />
            <Button isDisabled={draft.trim() === ""} onPress={() => add(draft)}>
              {text("field.picker.add")}
            </Button>
          </span>
        </>
      )}
    </Field>
  );
}
