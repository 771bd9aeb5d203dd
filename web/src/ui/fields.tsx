import { ImageUp, Trash2, X } from "lucide-react";
import { useId, useState, type ReactNode } from "react";
import {
  Button as AriaButton,
  Checkbox as AriaCheckbox,
  FileTrigger,
  Input,
  Label,
  SearchField as AriaSearchField,
  Switch as AriaSwitch,
  TextField as AriaTextField,
} from "react-aria-components";

import { useText } from "../i18n/translate";
import { Button, IconButton } from "./controls";
import { FieldMessages, FieldNotes, type FieldProps } from "./FieldMessages";
import { loaded } from "./loaded";
import "./fields.css";

const CropDialog = loaded(() => import("./CropDialog"));

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
      <Input placeholder={label} dir="auto" />
    </AriaSearchField>
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
  /** Ask which part of a chosen picture is shown. Pictures that may move are taken as they are. */
  crops?: boolean;
}

const CROPPED_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg"]);

/** A picture that can be replaced or removed. */
export function ImageField({ url, shape, onChange, accept, crops = false, ...props }: ImageFieldProps) {
  const { isDisabled = false, ...field } = props;
  const text = useText();
  const id = useId();
  const [cropping, setCropping] = useState<string | null>(null);
  const choose = async (file: File) => {
    const data = await readDataUri(file);
    if (crops && CROPPED_TYPES.has(file.type)) {
      setCropping(data);
    } else {
      onChange(data);
    }
  };
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
          onChoose={(file) => void choose(file)}
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
      {cropping !== null && (
        <CropDialog
          url={cropping}
          onCrop={(data) => {
            setCropping(null);
            onChange(data);
          }}
          onClose={() => setCropping(null)}
        />
      )}
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
  return (
    <FileTrigger
      acceptedFileTypes={accept.split(",")}
      onSelect={(files) => {
        const file = files?.[0];
        if (file !== undefined) {
          onChoose(file);
        }
      }}
    >
      <Button isDisabled={isDisabled}>{children}</Button>
    </FileTrigger>
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
  const { label, hint, error, value, onChange, max, maxLength, hasCommas = false, isDisabled } = props;
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
    <AriaTextField
      className="field"
      value={draft}
      onChange={(input) => (separator.test(input) ? add(input) : setDraft(input))}
      maxLength={Math.max(maxLength, 4000)}
      isDisabled={(isDisabled ?? false) || value.length >= max}
      isInvalid={error !== undefined}
      validationBehavior="aria"
    >
      <Label>{label}</Label>
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
        <Input
          dir="auto"
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
      <FieldMessages hint={hint} error={error} />
    </AriaTextField>
  );
}
