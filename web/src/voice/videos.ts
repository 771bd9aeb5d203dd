import type { VideoKind } from "./media";

/** A camera or a screen that can be shown: another user's, or one's own. */
export interface Video {
  userId: string;
  kind: VideoKind;
  track: MediaStreamTrack;
}

/** Quality of what is shown at less than this height, in pixels of the screen. */
const SMALL = { height: 400, quality: 50 };
const FULL = 100;

let current: readonly Video[] = [];
const listeners = new Set<() => void>();
/** How high each video is shown, by each element that shows it. */
const heights = new Map<string, Map<object, number>>();
const shownListeners = new Set<() => void>();

function keyOf(userId: string, kind: VideoKind): string {
  return `${kind} ${userId}`;
}

export function getVideos(): readonly Video[] {
  return current;
}

/** Show a user's video, or with null no longer. */
export function setVideo(userId: string, kind: VideoKind, track: MediaStreamTrack | null): void {
  const others = current.filter((each) => each.userId !== userId || each.kind !== kind);
  if (track === null && others.length === current.length) {
    return;
  }
  current = track === null ? others : [...others, { userId, kind, track }];
  listeners.forEach((listener) => listener());
}

export function clearVideos(): void {
  if (current.length > 0) {
    current = [];
    listeners.forEach((listener) => listener());
  }
}

export function subscribeVideos(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Note how high an element shows a video, in pixels of the screen; null for no longer. */
export function setShown(userId: string, kind: VideoKind, element: object, height: number | null): void {
  const key = keyOf(userId, kind);
  const elements = heights.get(key) ?? new Map<object, number>();
  if (height === null) {
    elements.delete(element);
  } else {
    elements.set(element, height);
  }
  if (elements.size > 0) {
    heights.set(key, elements);
  } else {
    heights.delete(key);
  }
  shownListeners.forEach((listener) => listener());
}

/** The quality that a video is shown in; 0 where nothing shows it. */
export function shownQuality(userId: string, kind: VideoKind): number {
  const height = Math.max(0, ...(heights.get(keyOf(userId, kind))?.values() ?? []));
  return height === 0 ? 0 : height < SMALL.height ? SMALL.quality : FULL;
}

export function subscribeShown(listener: () => void): () => void {
  shownListeners.add(listener);
  return () => shownListeners.delete(listener);
}
