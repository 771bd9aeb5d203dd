import { Label, Slider as AriaSlider, SliderOutput, SliderThumb, SliderTrack } from "react-aria-components";

import "./slider.css";

interface SliderProps {
  label: string;
  hint?: string;
  value: number;
  min?: number;
  max: number;
  step: number;
  /** The value as it is shown and read out. */
  format: (value: number) => string;
  onChange: (value: number) => void;
}

/** A number that is chosen by dragging, or by the arrow keys. */
export function Slider({ label, hint, value, min = 0, max, step, format, onChange }: SliderProps) {
  return (
    <AriaSlider
      className="slider"
      value={value}
      minValue={min}
      maxValue={max}
      step={step}
      onChange={onChange}
    >
      <Label className="field-label">{label}</Label>
      <SliderOutput className="slider-output">{format(value)}</SliderOutput>
      <SliderTrack className="slider-track">
        <SliderThumb className="slider-thumb" aria-valuetext={format(value)} />
      </SliderTrack>
      {hint !== undefined && <p className="field-hint">{hint}</p>}
    </AriaSlider>
  );
}
