import { Check } from "lucide-react";
import { Label, Radio, RadioGroup } from "react-aria-components";

import type { MessageId } from "../../../i18n/messages";
import { apiLocale } from "../../../i18n/locales";
import { LOCALE_NAMES, LOCALES, type Locale } from "../../../i18n/messages";
import { useText } from "../../../i18n/translate";
import { Switch } from "../../../ui/fields";
import { HUES, type Hue } from "../../../ui/hues";
import { Select } from "../../../ui/Select";
import { useSession } from "../../session/session";
import { setPreferences, usePreferences, type Preferences } from "../../preferences/preferences";
import { changeSettings } from "../../session/useSettings";
import { RadioCards } from "../RadioCards";

const THEMES: readonly [Preferences["theme"], MessageId][] = [
  ["system", "settings.theme.system"],
  ["light", "settings.theme.light"],
  ["dark", "settings.theme.dark"],
  ["midnight", "settings.theme.midnight"],
  ["paper", "settings.theme.paper"],
  ["contrast", "settings.theme.contrast"],
];

const DENSITIES: readonly [Preferences["density"], MessageId][] = [
  ["cosy", "settings.density.cosy"],
  ["compact", "settings.density.compact"],
];
const TEXT_SIZES: readonly [Preferences["textSize"], MessageId][] = [
  ["small", "settings.textSize.small"],
  ["normal", "settings.textSize.normal"],
  ["large", "settings.textSize.large"],
  ["larger", "settings.textSize.larger"],
];

/** Theme, sizes, motion and language on this device. */
export default function Appearance() {
  const text = useText();
  const session = useSession();
  const { theme, accent, density, textSize, locale, reducedMotion } = usePreferences();
  const changeLocale = (chosen: Locale) => {
    setPreferences({ locale: chosen });
    // The server writes to the user, and applications answer them, in this language.
    void changeSettings(session, { locale: apiLocale(chosen) }).catch(() => undefined);
  };
  return (
    <>
      <section className="preferences-block">
        <RadioCards
          label={text("settings.theme")}
          value={theme}
          options={THEMES.map(([value, id]) => [value, text(id)])}
          onChange={(value) => setPreferences({ theme: value })}
        />
        {theme !== "contrast" && (
          <RadioGroup
            className="swatches"
            value={accent}
            onChange={(value) => setPreferences({ accent: value as Hue })}
          >
            <Label className="radio-cards-label">{text("settings.accent")}</Label>
            {HUES.map((hue) => (
              <Radio key={hue} value={hue} className="swatch" data-hue={hue}>
                <span className="visually-hidden">{text(`settings.hue.${hue}`)}</span>
                <Check size={18} aria-hidden="true" />
              </Radio>
            ))}
          </RadioGroup>
        )}
        <RadioCards
          label={text("settings.density")}
          value={density}
          options={DENSITIES.map(([value, id]) => [value, text(id)])}
          onChange={(value) => setPreferences({ density: value })}
        />
        <RadioCards
          label={text("settings.textSize")}
          value={textSize}
          options={TEXT_SIZES.map(([value, id]) => [value, text(id)])}
          onChange={(value) => setPreferences({ textSize: value })}
        />
        <Switch
          label={text("settings.motion")}
          hint={text("settings.motion.hint")}
          isSelected={reducedMotion}
          onChange={(reduced) => setPreferences({ reducedMotion: reduced })}
        />
      </section>
      <section className="preferences-block">
        <Select
          label={text("settings.language")}
          value={locale}
          options={LOCALES.map((each): [Locale, string] => [each, LOCALE_NAMES[each]])}
          onChange={changeLocale}
        />
      </section>
    </>
  );
}
