/** What a user can send or receive of others. */
export type MediaKind = "voice" | "camera" | "screen" | "screenSound";
export type VideoKind = "camera" | "screen";

/** A stream as the voice gateway names it: a layer of a camera or a screen, or the sound of a screen. */
export interface StreamEntry {
  type: "video" | "screen" | "audio";
  rid: string;
  quality: number;
  ssrc: number;
  rtx_ssrc?: number;
  active?: boolean;
}

export interface Layer {
  type: StreamEntry["type"];
  rid: string;
  quality: number;
  scaleResolutionDownBy: number;
  maxBitrate: number;
}

/** The layers of a camera and of a screen, the worst first, as browsers want them. */
export const LAYERS: Readonly<Record<VideoKind, readonly Layer[]>> = {
  camera: [
    { type: "video", rid: "50", quality: 50, scaleResolutionDownBy: 2, maxBitrate: 300_000 },
    { type: "video", rid: "100", quality: 100, scaleResolutionDownBy: 1, maxBitrate: 1_700_000 },
  ],
  screen: [
    { type: "screen", rid: "s50", quality: 50, scaleResolutionDownBy: 2, maxBitrate: 500_000 },
    { type: "screen", rid: "s100", quality: 100, scaleResolutionDownBy: 1, maxBitrate: 4_000_000 },
  ],
};

export const SCREEN_SOUND = { type: "audio", rid: "sound", quality: 100 } as const;

/** The streams that a client asks the voice gateway for. */
export const STREAMS = [
  ...[...LAYERS.camera, ...LAYERS.screen].map(({ type, rid, quality }) => ({ type, rid, quality })),
  SCREEN_SOUND,
];

export const KIND_OF: Readonly<Record<StreamEntry["type"], MediaKind>> = {
  video: "camera",
  screen: "screen",
  audio: "screenSound",
};

/** Where others' media come from: the SSRCs of one kind. */
export interface MediaSource {
  userId: string;
  kind: MediaKind;
  ssrc: number;
  rtxSsrc: number | null;
}

/** The sources of a user, from a message of the voice gateway about them. */
export function sourcesOf(userId: string, audioSsrc: number, streams: readonly StreamEntry[]): MediaSource[] {
  const sources = new Map<MediaKind, MediaSource>();
  if (audioSsrc > 0) {
    sources.set("voice", { userId, kind: "voice", ssrc: audioSsrc, rtxSsrc: null });
  }
  for (const { type, ssrc, rtx_ssrc: rtxSsrc = null } of streams) {
    const kind = KIND_OF[type] as MediaKind | undefined;
    if (kind !== undefined && !sources.has(kind)) {
      sources.set(kind, { userId, kind, ssrc, rtxSsrc });
    }
  }
  return [...sources.values()];
}
