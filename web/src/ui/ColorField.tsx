import { useId, useState } from "react";
import {
  Button as AriaButton,
  ColorArea,
  ColorField as AriaColorField,
  ColorPicker,
  ColorSlider,
  ColorSwatch,
  ColorThumb,
  Dialog,
  DialogTrigger,
  Input,
  parseColor,
  Popover,
  SliderTrack,
  type Color,
} from "react-aria-components";

import { FieldNotes, type FieldProps } from "./FieldMessages";
import "./fields.css";

interface ColorFieldProps extends FieldProps {
  /** 0xRRGGBB. */
  value: number;
  onChange: (value: number) => void;
}

/** A colour, chosen by its hue and shade or typed as six digits. */
export function ColorField({ label, value, onChange, isDisabled = false, hint, error }: ColorFieldProps) {
  const id = useId();
  const hex = `#${value.toString(16).padStart(6, "0")}`;
  // Its hue stays while the shade is grey, which has none.
  const [color, setColor] = useState(() => parseColor(hex).toFormat("hsb"));
  if (numberOf(color) !== value) {
    setColor(parseColor(hex).toFormat("hsb"));
  }
  const change = (changed: Color) => {
    setColor(changed.toFormat("hsb"));
    onChange(numberOf(changed));
  };
  return (
    <div className="field">
      <span id={id} className="field-label">
        {label}
      </span>
      <ColorPicker value={color} onChange={change}>
        <DialogTrigger>
          <AriaButton
            className="color-button"
            aria-labelledby={`${id} ${id}-value`}
            aria-describedby={`${id}-hint ${id}-error`}
            isDisabled={isDisabled}
          >
            <ColorSwatch className="color-swatch" aria-hidden="true" />
            <code id={`${id}-value`}>{hex}</code>
          </AriaButton>
          <Popover className="menu-popover" placement="bottom start">
            <Dialog className="color-dialog" aria-labelledby={id}>
              <ColorArea className="color-area" colorSpace="hsb" xChannel="saturation" yChannel="brightness">
                <ColorThumb className="color-thumb" />
              </ColorArea>
              <ColorSlider className="color-slider" colorSpace="hsb" channel="hue">
                <SliderTrack className="color-track">
                  <ColorThumb className="color-thumb" />
                </SliderTrack>
              </ColorSlider>
              <AriaColorField className="field" aria-labelledby={id}>
                <Input dir="ltr" />
              </AriaColorField>
            </Dialog>
          </Popover>
        </DialogTrigger>
      </ColorPicker>
      <FieldNotes id={id} hint={hint} error={error} />
    </div>
  );
}

function numberOf(color: Color): number {
  return color.toHexInt();
}
