import {
  FieldError,
  Input,
  Label,
  Text,
  TextArea,
  TextField as AriaTextField,
  type TextFieldProps as AriaTextFieldProps,
} from "react-aria-components";

interface TextFieldProps extends AriaTextFieldProps {
  label: string;
  hint?: string;
  /** Why the value was refused; shown until it changes. */
  error?: string | undefined;
  multiline?: boolean;
  autoComplete?: string;
  placeholder?: string;
}

export function TextField({ label, hint, error, multiline, placeholder, ...props }: TextFieldProps) {
  return (
    <AriaTextField {...props} isInvalid={error !== undefined} className="field">
      <Label>{label}</Label>
      {multiline ? (
        <TextArea rows={3} dir="auto" {...(placeholder && { placeholder })} />
      ) : (
        <Input dir="auto" {...(placeholder && { placeholder })} />
      )}
      {hint !== undefined && (
        <Text slot="description" className="field-hint">
          {hint}
        </Text>
      )}
      <FieldError className="field-error">{error}</FieldError>
    </AriaTextField>
  );
}
