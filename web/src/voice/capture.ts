import type { OwnVideo } from "./call";
import { mediaDevices } from "./microphone";
import type { ScreenSettings } from "./settings";
import type { VideoProblem } from "./status";

const CAMERA = { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30 } };
const CAMERA_FRAMES = 30;

const PROBLEMS: Readonly<Record<string, VideoProblem>> = {
  NotAllowedError: "refused",
  SecurityError: "refused",
  NotFoundError: "missing",
  OverconstrainedError: "missing",
};

export function videoProblemOf(error: unknown): VideoProblem {
  return error instanceof Error ? (PROBLEMS[error.name] ?? "busy") : "busy";
}

/** Whether the browser can share a screen: phones cannot. */
export function canShareScreen(): boolean {
  const devices = mediaDevices() as Partial<MediaDevices> | undefined;
  return typeof devices?.getDisplayMedia === "function";
}

export function canUseCamera(): boolean {
  return mediaDevices() !== undefined;
}

/** Open the camera. Throws what the browser throws. */
export async function openCamera(deviceId: string): Promise<OwnVideo> {
  const chosen = deviceId === "" ? {} : { deviceId: { ideal: deviceId } };
  const stream = await navigator.mediaDevices.getUserMedia({ video: { ...CAMERA, ...chosen } });
  const [track] = stream.getVideoTracks();
  if (track === undefined) {
    throw new DOMException("no camera", "NotFoundError");
  }
  track.contentHint = "motion";
  return { track, sound: null, maxFramerate: CAMERA_FRAMES };
}

/** Let the user choose a screen, a window or a tab. Throws what the browser throws. */
export async function openScreen({ height, frameRate, withSound }: ScreenSettings): Promise<OwnVideo> {
  const stream = await navigator.mediaDevices.getDisplayMedia({
    video: {
      frameRate: { ideal: frameRate, max: frameRate },
      ...(height > 0 && { height: { ideal: height, max: height } }),
    },
    audio: withSound && { echoCancellation: false, noiseSuppression: false, autoGainControl: false },
  });
  const [track] = stream.getVideoTracks();
  if (track === undefined) {
    throw new DOMException("no screen", "NotFoundError");
  }
  // Text stays sharp where few frames are asked for, and films stay smooth where many are.
  track.contentHint = frameRate > 15 ? "motion" : "detail";
  return { track, sound: stream.getAudioTracks()[0] ?? null, maxFramerate: frameRate };
}
