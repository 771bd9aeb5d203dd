import { useText } from "../../i18n/translate";
import { DialogFooter } from "../../ui/DialogFooter";
import { Dialog } from "../../ui/Dialog";
import { Switch } from "../../ui/fields";
import { Select } from "../../ui/Select";
import { activeVoiceClient } from "../../voice/client";
import { FRAME_RATES, SCREEN_HEIGHTS, setVoiceSettings, useVoiceSettings } from "../../voice/settings";

/** How a screen is shared, before the browser asks for which one. */
export default function ScreenDialog({ onClose }: { onClose: () => void }) {
  const text = useText();
  const { screen } = useVoiceSettings();
  const change = (changes: Partial<typeof screen>) => setVoiceSettings({ screen: { ...screen, ...changes } });
  return (
    <Dialog title={text("voice.screen.start")} onClose={onClose}>
      <p className="field-hint">{text("voice.screen.hint")}</p>
      <Select
        label={text("voice.screen.height")}
        value={String(screen.height)}
        options={SCREEN_HEIGHTS.map((height): [string, string] => [
          String(height),
          height === 0 ? text("voice.screen.height.source") : text("voice.screen.height.lines", { height }),
        ])}
        onChange={(height) => change({ height: Number(height) })}
      />
      <Select
        label={text("voice.screen.frameRate")}
        value={String(screen.frameRate)}
        options={FRAME_RATES.map((rate): [string, string] => [String(rate), String(rate)])}
        onChange={(rate) => change({ frameRate: Number(rate) })}
      />
      <Switch
        label={text("voice.screen.sound")}
        hint={text("voice.screen.sound.hint")}
        isSelected={screen.withSound}
        onChange={(withSound) => change({ withSound })}
      />
      <DialogFooter
        confirm={text("voice.screen.confirm")}
        onConfirm={() => {
          activeVoiceClient()?.toggleScreen();
          onClose();
        }}
        onCancel={onClose}
      />
    </Dialog>
  );
}
