import { useSyncExternalStore } from "react";

import { getVideos, subscribeVideos, type Video } from "../../voice/videos";

/** The cameras and screens that can be shown. */
export function useVideos(): readonly Video[] {
  return useSyncExternalStore(subscribeVideos, getVideos);
}
