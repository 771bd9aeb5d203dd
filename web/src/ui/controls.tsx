import { lazy, Suspense, type ReactNode } from "react";
import {
  Button as AriaButton,
  FieldError,
  Input,
  Label,
  Text,
  TextArea,
  TextField as AriaTextField,
  Tooltip,
  TooltipTrigger,
  type ButtonProps as AriaButtonProps,
  type TextFieldProps as AriaTextFieldProps,
} from "react-aria-components";

const ModalDialog = lazy(() => import("./ModalDialog"));

type ButtonKind = "plain" | "primary" | "danger" | "quiet";

export function Button({ kind = "plain", ...props }: AriaButtonProps & { kind?: ButtonKind }) {
  return <AriaButton {...props} className={`button button-${kind}`} />;
}

/** A button with an icon alone; `label` names it for screen readers and in its tooltip. */
export function IconButton({ label, ...props }: AriaButtonProps & { label: string }) {
  return (
    <TooltipTrigger delay={500}>
      <AriaButton {...props} aria-label={label} className="icon-button" />
      <Tooltip className="tooltip" offset={6}>
        {label}
      </Tooltip>
    </TooltipTrigger>
  );
}

interface TextFieldProps extends AriaTextFieldProps {
  label: string;
  hint?: string;
  /** Why the value was refused; shown until it changes. */
  error?: string | undefined;
  multiline?: boolean;
  autoComplete?: string;
}

export function TextField({ label, hint, error, multiline, ...props }: TextFieldProps) {
  return (
    <AriaTextField {...props} isInvalid={error !== undefined} className="field">
      <Label>{label}</Label>
      {multiline ? <TextArea rows={3} /> : <Input />}
      {hint !== undefined && (
        <Text slot="description" className="field-hint">
          {hint}
        </Text>
      )}
      <FieldError className="field-error">{error}</FieldError>
    </AriaTextField>
  );
}

export interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
}

/** A modal dialog that is open as long as it is rendered. */
export function Dialog(props: DialogProps) {
  return (
    <Suspense>
      <ModalDialog {...props} />
    </Suspense>
  );
}

interface AvatarProps {
  /** Null shows the first letter of the name. */
  url: string | null;
  name: string;
  size: number;
}

/** A decoration beside the name that it belongs to. */
export function Avatar({ url, name, size }: AvatarProps) {
  return (
    <span className="avatar" style={{ width: size, height: size, fontSize: size * 0.42 }} aria-hidden="true">
      {url === null ? initial(name) : <img src={url} alt="" width={size} height={size} loading="lazy" />}
    </span>
  );
}

function initial(name: string): string {
  const [first = "?"] = new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(
    name.trim() || "?",
  );
  return typeof first === "string" ? first : first.segment.toUpperCase();
}
