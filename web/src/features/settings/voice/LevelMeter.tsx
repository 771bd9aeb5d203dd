import { useEffect, useRef, useState } from "react";

import { useText } from "../../../i18n/translate";
import { SILENCE_DB } from "../../../voice/gate";
import { useVoiceSettings } from "../../../voice/settings";
import type { MicrophoneTest } from "./useMicrophoneTest";
import "./voice_settings.css";

/** How often a screen reader may read another value. */
const READ_MS = 1_000;

/** The share of the meter that a level fills, from 0 to 1. */
function shareOf(level: number): number {
  return Math.min(1, Math.max(0, 1 - level / SILENCE_DB));
}

/** How loud the microphone is, with a mark at the level from which others hear the user. */
export function LevelMeter({ test }: { test: MicrophoneTest }) {
  const text = useText();
  const { mode, threshold } = useVoiceSettings();
  const bar = useRef<HTMLDivElement>(null);
  const [level, setLevel] = useState(SILENCE_DB);
  const { isRunning, listen } = test;
  const isDetecting = mode === "detection";
  useEffect(() => {
    const element = bar.current;
    let readAt = 0;
    const draw = (current: number) => {
      element?.style.setProperty("--level", String(shareOf(current)));
      if (performance.now() - readAt > READ_MS) {
        readAt = performance.now();
        setLevel(Math.round(current));
      }
    };
    const stop = listen((report) => draw(report.level));
    return () => {
      stop();
      element?.style.setProperty("--level", "0");
    };
  }, [listen, isRunning]);
  const isOpen = isRunning && level >= threshold;
  const state = text(isOpen ? "voice.settings.level.open" : "voice.settings.level.closed");
  return (
    <div
      ref={bar}
      className={isDetecting ? "level-meter" : "level-meter level-meter-plain"}
      role="meter"
      aria-label={text("voice.settings.level")}
      aria-valuemin={SILENCE_DB}
      aria-valuemax={0}
      aria-valuenow={isRunning ? level : SILENCE_DB}
      aria-valuetext={
        isDetecting
          ? `${text("voice.settings.decibels", { level })}, ${state}`
          : text("voice.settings.decibels", { level })
      }
    >
      <div className="level-meter-fill" />
      {isDetecting && (
        <div className="level-meter-mark" style={{ insetInlineStart: `${shareOf(threshold) * 100}%` }} />
      )}
    </div>
  );
}
