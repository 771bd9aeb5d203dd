import { Minus, Plus } from "lucide-react";
import {
  Button as AriaButton,
  Group,
  Input,
  Label,
  NumberField as AriaNumberField,
} from "react-aria-components";

import { FieldMessages, type FieldProps } from "./FieldMessages";
import "./fields.css";

const WHOLE = { useGrouping: false, maximumFractionDigits: 0 } as const;

interface NumberFieldProps extends FieldProps {
  value: number;
  min: number;
  max: number;
  onChange: (value: number) => void;
}

/** A whole number within bounds. */
export function NumberField(props: NumberFieldProps) {
  const { label, hint, error, value, min, max, onChange, isDisabled = false } = props;
  /** Take a number over while it is being typed: the field itself waits until it is left. */
  const type = (typed: string) => {
    const number = Number(typed);
    if (/^-?\d+$/.test(typed) && number >= min && number <= max) {
      onChange(number);
    }
  };
  return (
    <AriaNumberField
      className="field"
      value={value}
      minValue={min}
      maxValue={max}
      formatOptions={WHOLE}
      onChange={(number) => !Number.isNaN(number) && onChange(number)}
      isDisabled={isDisabled}
      isInvalid={error !== undefined}
      isWheelDisabled
      validationBehavior="aria"
    >
      <Label>{label}</Label>
      <Group className="number-field">
        <Input onChange={(event) => type(event.target.value)} />
        <AriaButton slot="decrement" className="number-step">
          <Minus size={16} aria-hidden="true" />
        </AriaButton>
        <AriaButton slot="increment" className="number-step">
          <Plus size={16} aria-hidden="true" />
        </AriaButton>
      </Group>
      <FieldMessages hint={hint} error={error} />
    </AriaNumberField>
  );
}
