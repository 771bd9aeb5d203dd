import type { ReactNode } from "react";
import {
  CheckboxButton,
  CheckboxField,
  CheckboxGroup,
  Label,
  RadioButton,
  RadioField,
  RadioGroup,
  Text,
} from "react-aria-components";

import { FieldMessages, type FieldProps } from "./FieldMessages";
import "./fields.css";

interface Choice {
  value: string;
  label: string;
  description?: string | null | undefined;
}

interface RadioChoicesProps extends FieldProps {
  choices: readonly Choice[];
  /** An empty text is none of them. */
  value: string;
  onChange: (value: string) => void;
}

/** One of a few values, all of which are shown. */
export function RadioChoices({ choices, value, onChange, ...field }: RadioChoicesProps) {
  return (
    <RadioGroup {...group(field)} value={value === "" ? null : value} onChange={onChange}>
      <Content {...field}>
        {choices.map((choice) => (
          <RadioField key={choice.value} value={choice.value} className="choice">
            <RadioButton className="choice-control">
              <span className="radio-mark" aria-hidden="true" />
              {choice.label}
            </RadioButton>
            <Description choice={choice} />
          </RadioField>
        ))}
      </Content>
    </RadioGroup>
  );
}

interface CheckboxChoicesProps extends FieldProps {
  choices: readonly Choice[];
  value: readonly string[];
  onChange: (value: string[]) => void;
}

/** Any of a few values, all of which are shown. */
export function CheckboxChoices({ choices, value, onChange, ...field }: CheckboxChoicesProps) {
  return (
    <CheckboxGroup {...group(field)} value={[...value]} onChange={onChange}>
      <Content {...field}>
        {choices.map((choice) => (
          <CheckboxField key={choice.value} value={choice.value} className="choice">
            <CheckboxButton className="checkbox choice-control">
              <span className="checkbox-box" aria-hidden="true" />
              {choice.label}
            </CheckboxButton>
            <Description choice={choice} />
          </CheckboxField>
        ))}
      </Content>
    </CheckboxGroup>
  );
}

/** What both groups have in common. */
function group({ error, isDisabled = false }: FieldProps) {
  return {
    className: "field choices",
    isDisabled,
    isInvalid: error !== undefined,
    validationBehavior: "aria",
  } as const;
}

function Content({ label, hint, error, children }: FieldProps & { children: ReactNode }) {
  return (
    <>
      <Label className="field-label">{label}</Label>
      {children}
      <FieldMessages hint={hint} error={error} />
    </>
  );
}

function Description({ choice }: { choice: Choice }) {
  return (
    choice.description && (
      <Text slot="description" className="field-hint choice-description">
        {choice.description}
      </Text>
    )
  );
}
