import type { MessageId } from "../../../i18n/messages";
import { LOCALE_NAMES, LOCALES, type Locale } from "../../../i18n/messages";
import { useText } from "../../../i18n/translate";
import { Switch } from "../../../ui/fields";
import { Select } from "../../../ui/Select";
import { useSession } from "../../session/session";
import { setPreferences, usePreferences, type Preferences } from "../../preferences/preferences";
import { changeSettings } from "../../session/useSettings";
import { RadioCards } from "../RadioCards";

const THEMES: readonly [Preferences["theme"], MessageId][] = [
  ["system", "settings.theme.system"],
  ["light", "settings.theme.light"],
  ["dark", "settings.theme.dark"],
  ["contrast", "settings.theme.contrast"],
];

/** Theme, motion and language on this device. */
export default function Appearance() {
  const text = useText();
  const session = useSession();
  const { theme, locale, reducedMotion } = usePreferences();
  const changeLocale = (chosen: Locale) => {
    setPreferences({ locale: chosen });
    // The server writes to the user, and applications answer them, in this language.
    void changeSettings(session, { locale: chosen === "en" ? "en-US" : chosen }).catch(() => undefined);
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
