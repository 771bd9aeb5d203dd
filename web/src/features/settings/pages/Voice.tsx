import type { Part } from "../../../i18n/messages";
import { useText, WithTexts } from "../../../i18n/translate";
import { Button } from "../../../ui/controls";
import { Switch } from "../../../ui/fields";
import { Select } from "../../../ui/Select";
import { Slider } from "../../../ui/Slider";
import { setVoiceSettings, THRESHOLD_MIN, useVoiceSettings } from "../../../voice/settings";
import { canChooseOutput } from "../../../voice/speakers";
import { VOLUME_MAX } from "../../../voice/volumes";
import { RadioCards } from "../RadioCards";
import { LevelMeter } from "../voice/LevelMeter";
import { TalkKey } from "../voice/TalkKey";
import { useDevices, type Device } from "../voice/useDevices";
import { useMicrophoneTest, type MicrophoneTest } from "../voice/useMicrophoneTest";

const PARTS: readonly Part[] = ["voice"];

/** Microphone, speakers, camera and when others hear the user, on this device. */
export default function Voice() {
  return (
    <WithTexts parts={PARTS}>
      <Sections />
    </WithTexts>
  );
}

function Sections() {
  const text = useText();
  const test = useMicrophoneTest();
  return (
    <>
      <p className="field-hint">{text("voice.settings.device")}</p>
      <Devices />
      <Test test={test} />
      <Mode test={test} />
      <Processing />
    </>
  );
}

function Devices() {
  const text = useText();
  const settings = useVoiceSettings();
  const { inputs, outputs, cameras, isNamed, allow } = useDevices();
  const options = (devices: readonly Device[], chosen: string): [string, string][] => {
    const known = devices.map(({ id, label }, index): [string, string] => [
      id,
      label || text("voice.settings.unnamed", { number: index + 1 }),
    ]);
    const isKnown = chosen === "" || devices.some(({ id }) => id === chosen);
    return [
      ["", text("voice.settings.system")],
      ...known,
      ...(isKnown ? [] : [[chosen, "?"] as [string, string]]),
    ];
  };
  const percent = (value: number) => text("voice.volume", { percent: value });
  return (
    <section className="preferences-block">
      <h2>{text("voice.settings.devices")}</h2>
      {!isNamed && (
        <div className="preferences-row">
          <span className="preferences-text">{text("voice.settings.allow")}</span>
          <Button kind="primary" onPress={allow}>
            {text("voice.settings.allow.button")}
          </Button>
        </div>
      )}
      <Select
        label={text("voice.settings.input")}
        value={settings.inputId}
        options={options(inputs, settings.inputId)}
        onChange={(inputId) => setVoiceSettings({ inputId })}
      />
      <Slider
        label={text("voice.settings.inputVolume")}
        value={settings.inputVolume}
        max={VOLUME_MAX}
        step={5}
        format={percent}
        onChange={(inputVolume) => setVoiceSettings({ inputVolume })}
      />
      {canChooseOutput() ? (
        <Select
          label={text("voice.settings.output")}
          value={settings.outputId}
          options={options(outputs, settings.outputId)}
          onChange={(outputId) => setVoiceSettings({ outputId })}
        />
      ) : (
        <p className="field-hint">{text("voice.settings.outputFixed")}</p>
      )}
      <Slider
        label={text("voice.settings.outputVolume")}
        value={settings.outputVolume}
        max={VOLUME_MAX}
        step={5}
        format={percent}
        onChange={(outputVolume) => setVoiceSettings({ outputVolume })}
      />
      <Select
        label={text("voice.camera")}
        value={settings.cameraId}
        options={options(cameras, settings.cameraId)}
        onChange={(cameraId) => setVoiceSettings({ cameraId })}
      />
    </section>
  );
}

function Test({ test }: { test: MicrophoneTest }) {
  const text = useText();
  return (
    <section className="preferences-block">
      <h2>{text("voice.settings.test")}</h2>
      <p className="field-hint">{text("voice.settings.test.hint")}</p>
      <LevelMeter test={test} />
      <div className="preferences-actions">
        <Button kind={test.isRunning ? "plain" : "primary"} onPress={test.isRunning ? test.stop : test.start}>
          {text(test.isRunning ? "voice.settings.test.stop" : "voice.settings.test.start")}
        </Button>
      </div>
      {test.problem !== null && (
        <p role="alert" className="notice">
          {text(`voice.microphone.${test.problem}`)}
        </p>
      )}
      <Switch
        label={text("voice.settings.test.hear")}
        isSelected={test.isHeard}
        isDisabled={!test.isRunning}
        onChange={test.setHeard}
      />
    </section>
  );
}

function Mode({ test }: { test: MicrophoneTest }) {
  const text = useText();
  const { mode, threshold } = useVoiceSettings();
  return (
    <section className="preferences-block">
      <RadioCards
        label={text("voice.settings.mode")}
        value={mode}
        options={[
          ["detection", text("voice.settings.mode.detection")],
          ["pushToTalk", text("voice.settings.mode.pushToTalk")],
        ]}
        onChange={(value) => setVoiceSettings({ mode: value })}
      />
      {mode === "detection" ? (
        <>
          <LevelMeter test={test} />
          <Slider
            label={text("voice.settings.threshold")}
            hint={text("voice.settings.threshold.hint")}
            value={threshold}
            min={THRESHOLD_MIN}
            max={0}
            step={1}
            format={(level) => text("voice.settings.decibels", { level })}
            onChange={(value) => setVoiceSettings({ threshold: value })}
          />
        </>
      ) : (
        <TalkKey />
      )}
    </section>
  );
}

function Processing() {
  const text = useText();
  const { echoCancellation, noiseSuppression, autoGainControl, cues } = useVoiceSettings();
  return (
    <>
      <section className="preferences-block">
        <h2>{text("voice.settings.processing")}</h2>
        <Switch
          label={text("voice.settings.echo")}
          hint={text("voice.settings.echo.hint")}
          isSelected={echoCancellation}
          onChange={(isOn) => setVoiceSettings({ echoCancellation: isOn })}
        />
        <Switch
          label={text("voice.settings.noise")}
          isSelected={noiseSuppression}
          onChange={(isOn) => setVoiceSettings({ noiseSuppression: isOn })}
        />
        <Switch
          label={text("voice.settings.gain")}
          isSelected={autoGainControl}
          onChange={(isOn) => setVoiceSettings({ autoGainControl: isOn })}
        />
      </section>
      <section className="preferences-block">
        <h2>{text("voice.settings.cues")}</h2>
        <Switch
          label={text("voice.settings.cues.play")}
          isSelected={cues}
          onChange={(isOn) => setVoiceSettings({ cues: isOn })}
        />
      </section>
    </>
  );
}
