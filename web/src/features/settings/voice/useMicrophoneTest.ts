import { useCallback, useEffect, useRef, useState } from "react";

import type { GateReport } from "../../../voice/gate";
import { Microphone, problemOf } from "../../../voice/microphone";
import { useVoiceSettings, type VoiceSettings } from "../../../voice/settings";
import { Speakers, setOutput } from "../../../voice/speakers";
import type { MicrophoneProblem } from "../../../voice/status";

export interface MicrophoneTest {
  isRunning: boolean;
  problem: MicrophoneProblem | null;
  /** Whether the user hears themselves. */
  isHeard: boolean;
  setHeard: (isHeard: boolean) => void;
  start: () => void;
  stop: () => void;
  /** Call a function with each report until the returned one is called. */
  listen: (listener: (report: GateReport) => void) => () => void;
}

const SELF = "self";

/** A microphone as it is set, for oneself alone. */
export function useMicrophoneTest(): MicrophoneTest {
  const settings = useVoiceSettings();
  const [isRunning, setRunning] = useState(false);
  const [isHeard, setHeard] = useState(false);
  const [problem, setProblem] = useState<MicrophoneProblem | null>(null);
  const [microphone, setMicrophone] = useState<Microphone | null>(null);
  const listeners = useRef(new Set<(report: GateReport) => void>());
  const { inputId, echoCancellation, noiseSuppression, autoGainControl, outputId } = settings;
  const latest = useRef<VoiceSettings>(settings);
  useEffect(() => {
    latest.current = settings;
  }, [settings]);

  useEffect(() => {
    if (!isRunning) {
      return;
    }
    const context = new AudioContext({ latencyHint: "interactive" });
    const opening = Microphone.open(context, latest.current);
    let isOver = false;
    opening.then(
      (opened) => {
        opened.onReport = (report) => listeners.current.forEach((listener) => listener(report));
        opened.onEnded = () => setRunning(false);
        if (!isOver) {
          setMicrophone(opened);
        }
      },
      (error: unknown) => {
        if (!isOver) {
          setProblem(problemOf(error));
          setRunning(false);
        }
      },
    );
    return () => {
      isOver = true;
      setMicrophone(null);
      opening.then((opened) => opened.close()).catch(() => undefined);
      void context.close();
    };
  }, [isRunning, inputId, echoCancellation, noiseSuppression, autoGainControl]);

  useEffect(() => {
    microphone?.setVolume(settings.inputVolume);
    microphone?.setGate({
      mode: settings.mode === "detection" ? "detect" : "open",
      threshold: settings.threshold,
    });
  }, [microphone, settings]);

  useEffect(() => {
    if (microphone === null || !isHeard) {
      return;
    }
    const context = new AudioContext({ latencyHint: "interactive" });
    void setOutput(context, outputId);
    const speakers = new Speakers(context);
    speakers.setTrack(SELF, microphone.track, { volume: 100, muted: false });
    return () => {
      speakers.close();
      void context.close();
    };
  }, [microphone, isHeard, outputId]);

  const start = useCallback(() => {
    setProblem(null);
    setRunning(true);
  }, []);
  const stop = useCallback(() => setRunning(false), []);
  const listen = useCallback((listener: (report: GateReport) => void) => {
    const current = listeners.current;
    current.add(listener);
    return () => {
      current.delete(listener);
    };
  }, []);
  return { isRunning, problem, isHeard, setHeard, start, stop, listen };
}
