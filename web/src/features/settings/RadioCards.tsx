import { Label, Radio, RadioGroup } from "react-aria-components";

interface RadioCardsProps<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}

/** One of a few values, all of them shown. */
export function RadioCards<T extends string>({ label, value, options, onChange }: RadioCardsProps<T>) {
  return (
    <RadioGroup className="radio-cards" value={value} onChange={(chosen) => onChange(chosen as T)}>
      <Label className="radio-cards-label">{label}</Label>
      {options.map(([option, name]) => (
        <Radio key={option} value={option} className="radio-card">
          {name}
        </Radio>
      ))}
    </RadioGroup>
  );
}
