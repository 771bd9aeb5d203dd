import { useCallback, useEffect, useState } from "react";

import { mediaDevices } from "../../../voice/microphone";

export interface Device {
  id: string;
  /** Empty while the browser keeps it to itself. */
  label: string;
}

interface Devices {
  inputs: readonly Device[];
  outputs: readonly Device[];
  cameras: readonly Device[];
  /** Whether the browser names the devices: it does once the page may use a microphone. */
  isNamed: boolean;
}

const NONE: Devices = { inputs: [], outputs: [], cameras: [], isNamed: true };

/** The devices of one kind: not those that stand for others, which the system chooses. */
function ofKind(devices: readonly MediaDeviceInfo[], kind: MediaDeviceKind): Device[] {
  return devices
    .filter((each) => each.kind === kind && !["", "default", "communications"].includes(each.deviceId))
    .map(({ deviceId, label }) => ({ id: deviceId, label }));
}

/** The microphones, speakers and cameras of this device as they come and go, and a function that asks for their names. */
export function useDevices(): Devices & { allow: () => void } {
  const [devices, setDevices] = useState(NONE);
  const read = useCallback(async () => {
    const all = (await mediaDevices()?.enumerateDevices()) ?? [];
    setDevices({
      inputs: ofKind(all, "audioinput"),
      outputs: ofKind(all, "audiooutput"),
      cameras: ofKind(all, "videoinput"),
      isNamed: all.every(({ kind, label }) => kind !== "audioinput" || label !== ""),
    });
  }, []);
  useEffect(() => {
    const listen = () => void read();
    listen();
    mediaDevices()?.addEventListener("devicechange", listen);
    return () => mediaDevices()?.removeEventListener("devicechange", listen);
  }, [read]);
  const allow = useCallback(() => {
    mediaDevices()
      ?.getUserMedia({ audio: true })
      .then((stream) => stream.getTracks().forEach((track) => track.stop()))
      .catch(() => undefined)
      .finally(() => void read());
  }, [read]);
  return { ...devices, allow };
}
